"""The options of ``sfumato sweep``, as they were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Option

from .as_given import OptionsAsGiven
from .options import (
    Cell,
    Cells,
    Dark,
    Figure,
    Gap,
    Hexagons,
    Latitude,
    LatticeKind,
    Longitude,
    Loss,
    Near,
    Objective,
    People,
    Picture,
    PrivacyMetric,
    Region,
    SkipDamaged,
    Smoothing,
    Spacing,
    TableOutput,
    TimeLimit,
    User,
    UserColumn,
    VisitsOrCity,
)


@dataclass(frozen=True, slots=True)
class SweepOptions(OptionsAsGiven):
    """The options of ``sfumato sweep``, each with its name, type, default and help."""

    visits: VisitsOrCity = None
    epsilons: Annotated[
        str | None, Option(help="The epsilons: '0.15/km, 0.3/km', or '0.15..0.9/km:6' for six equal steps.")
    ] = None
    distortions: Annotated[
        str | None,
        Option(help="The least errors of the best attacker, with or instead of --epsilons: '500 m, 1 km'."),
    ] = None
    users: Annotated[int | None, Option(help="One prior for each of the N users with the most visits.")] = None
    loss: Loss = "euclidean"
    objective: Objective = "expected"
    metric: PrivacyMetric = "euclidean"
    spacing: Spacing = None
    lattice: LatticeKind = "square"
    near: Near = None
    cell: Cell = None
    cells: Cells = None
    hexagons: Hexagons = None
    region: Region = None
    user: User = None
    smoothing: Smoothing = 0.0
    output: TableOutput = None
    time_limit: TimeLimit = 600.0
    gap: Gap = None
    figure: Figure = None
    picture: Picture = True
    dark: Dark = False
    lat: Latitude = None
    lon: Longitude = None
    user_column: UserColumn = None
    people: People = None
    skip_damaged: SkipDamaged = False
