"""The options of ``sfumato design``, as they were given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from .as_given import OptionsAsGiven
from .options import (
    DEFAULT_EPSILON,
    AttackerFinds,
    BoundTime,
    Cell,
    Cells,
    Dark,
    EachUser,
    Figure,
    FrontierTime,
    Gap,
    HeldOut,
    Hexagons,
    Latitude,
    LatticeKind,
    LeastVisits,
    Longitude,
    LossOrGoal,
    Near,
    Objective,
    Outline,
    People,
    Picture,
    PrivacyMetric,
    Processes,
    Region,
    SkipDamaged,
    Smoothing,
    Spacing,
    TimeLimit,
    User,
    UserColumn,
    VisitsOrCity,
)


@dataclass(frozen=True, slots=True)
class DesignOptions(OptionsAsGiven):
    """The options of ``sfumato design``, each with its name, type, default and help."""

    visits: VisitsOrCity = None
    epsilon: Annotated[
        str | None,
        Option(help=f"The metric privacy to promise, such as 0.6/km. [default: {DEFAULT_EPSILON}]"),
    ] = None
    within: Annotated[
        str | None,
        Option(help="Protect only places this near to each other: '500 m'; --epsilon is then a number."),
    ] = None
    distortion: Annotated[
        str | None, Option(help="The best attacker errs by at least this on average: '800 m'.")
    ] = None
    max_loss: Annotated[
        str | None, Option(help="Make the attacker's error as large as this average loss allows: '500 m'.")
    ] = None
    loss: LossOrGoal = "euclidean"
    attacker_finds: AttackerFinds = None
    objective: Objective = "expected"
    metric: PrivacyMetric = "euclidean"
    spacing: Spacing = None
    lattice: LatticeKind = "square"
    near: Near = None
    cell: Cell = None
    cells: Cells = None
    hexagons: Hexagons = None
    region: Region = None
    population: Annotated[
        Path | None,
        Option(
            help="Instead of visits: points with a column 'weight' (or 'population'), such as the inhabitants of "
            "blocks; the same formats."
        ),
    ] = None
    user: User = None
    each_user: EachUser = False
    least_visits: LeastVisits = None
    processes: Processes = None
    smoothing: Smoothing = 0.0
    held_out: HeldOut = None
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Write the mechanism file (.sfm) here, with the report beside it; with --each-user the folder.",
        ),
    ] = None
    time_limit: TimeLimit = 600.0
    gap: Gap = None
    solver: Annotated[
        str,
        Option(
            help="auto, structured (our interior point), generating (from few reports), highs, "
            "simplex or clarabel."
        ),
    ] = "auto"
    checkpoints: Annotated[
        Path | None,
        Option(
            help="Keep the state of a long design in this folder every few seconds; after a stop or a crash the "
            "same command goes on from it. Remove the folder when the design is done."
        ),
    ] = None
    pairs: Annotated[
        str, Option(help="Rows of the program: generated, all, or spanner (for comparisons; costs some loss).")
    ] = "generated"
    bound_time: BoundTime = 0.0
    keep: Annotated[
        str, Option(help="For points: better (the program or planar noise, as loses less), program, or noise.")
    ] = "better"
    outline: Outline = None
    figure: Figure = None
    picture: Picture = True
    dark: Dark = False
    report: Annotated[
        Path | None,
        Option(help="Also write the report to sign, as a page (.html) or JSON (.json); see 'sfumato report'."),
    ] = None
    require: Annotated[
        list[str] | None,
        Option(help="A limit to keep: 'within 1850 ft: at most 50 %', or as for audit, 'epsilon <= 0.7/km'."),
    ] = None
    frontier_time: FrontierTime = 60.0
    lat: Latitude = None
    lon: Longitude = None
    user_column: UserColumn = None
    people: People = None
    skip_damaged: SkipDamaged = False
    column: Annotated[
        list[str] | None,
        Option(help="Design for this column of categories or numbers instead of places. Repeatable."),
    ] = None
    labels: Annotated[
        list[str] | None,
        Option(
            help="With --column: its possible values: a,b,c (one with a comma in double quotes), or a file with "
            "one on each line; with several columns in their order, or 'diagnosis=a,b;sex=f,m'. Repeatable."
        ),
    ] = None
    numbers: Annotated[
        list[str] | None,
        Option(
            help="With --column: its range: 18..99, or 18..99:5 for bins of five numbers; with several columns "
            "'age=18..99:5;children=0..9'. Repeatable."
        ),
    ] = None
    circular: Annotated[
        list[str] | None,
        Option(
            help="With --numbers: the length of the circle that the numbers are on, such as 24 for hours 0..23, "
            "which are 1 apart at midnight; with several columns hour=24. Repeatable."
        ),
    ] = None
    split: Annotated[
        str | None,
        Option(
            help="With several --column: even (the default), the share of epsilon of each (0.7,0.3), or joint for "
            "one mechanism on all combinations."
        ),
    ] = None
    prior: Annotated[
        str, Option("--prior", help="With --column: uniform, or data for the shares in the table.")
    ] = "uniform"
