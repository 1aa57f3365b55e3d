"""Options of commands: each is declared once, with its name, type and help.

A command takes an option by naming its type: ``region: Region = None``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_type_hints

from typer import Argument, Option

from ..errors import InputError

T = TypeVar("T")

DEFAULT_EPSILON: Final = "1/km"
LEAST_VISITS: Final = 20

# What is read.
_FORMATS: Final = "A file of visits: CSV, Parquet, GeoParquet, GPX and others; '-' reads a pipe."
VisitsFile = Annotated[Path, Argument(help=_FORMATS)]
VisitsOrCity = Annotated[Path | None, Argument(help=f"{_FORMATS} By default a built-in synthetic city.")]
Latitude = Annotated[str | None, Option(help="The name of the latitude column.")]
Longitude = Annotated[str | None, Option(help="The name of the longitude column.")]
UserColumn = Annotated[str | None, Option(help="The name of the user column.")]
People = Annotated[
    str | None,
    Option(
        help="Who is a person: column (each name in the column of users, the default), one (all rows; the default "
        "where no column names users), or of GPX, GeoLife and OziExplorer file or folder."
    ),
]
SkipDamaged = Annotated[
    bool,
    Option(
        "--skip-damaged",
        help="Leave out files of a folder of GPX, GeoLife or OziExplorer that cannot be read; they are counted "
        "and named.",
    ),
]
SfmFile = Annotated[Path, Argument(help="A mechanism file (.sfm).")]

# Budgets.
LedgerAddress = Annotated[
    str, Argument(help="A ledger: the path of a SQLite file, or postgresql://user@host/name.", metavar="LEDGER")
]
KeyFile = Annotated[Path | None, Option(help="The file that holds the ledger's key, if it has one.")]

# The lattice or the cells, and how likely each of their members is.
Spacing = Annotated[
    str | None,
    Option(help="The distance of neighbours on the lattice: '500 m'. By default it is chosen, and printed."),
]
LatticeKind = Annotated[str, Option("--lattice", help="square or triangular.")]
Near = Annotated[
    str | None,
    Option(help="Serve only places within this distance of a visit: '300 m'. By default the whole region."),
]
Cell = Annotated[str | None, Option(help="Cells of this size: '500 m', or '750 m x 533 m'.")]
Cells = Annotated[str | None, Option(help="The number of cells: columns x rows, such as 20x15.")]
Hexagons = Annotated[str | None, Option(help="Hexagons of about this width: '500 m'.")]
Region = Annotated[
    str | None, Option(help="The area: 'south,west,north,east', or '8 km x 6 km around 48.85,2.35'.")
]
User = Annotated[str | None, Option(help="Use the visits of this user only; by default everyone's.")]
Smoothing = Annotated[
    float,
    Option(help="Add this to the number of visits of every cell or vertex; planar noise is then not looked at."),
]

# What is asked for.
PrivacyMetric = Annotated[str, Option(help="What epsilon counts per: euclidean, manhattan, great-circle.")]
Objective = Annotated[str, Option(help="The loss to make small: expected or worst-case.")]
Failure = Annotated[float, Option(help="The probability that a bound or an interval is wrong.")]


# The work.
Gap = Annotated[
    float | None,
    Option(help="The relative distance from the optimum to reach. [default: 1e-6; up to 1e-4 counts as done]"),
]
TimeLimit = Annotated[float, Option(help="Seconds for each design; then its best proved answer is written.")]
FrontierTime = Annotated[
    float,
    Option(help="Seconds for designs with other epsilons, which the report shows this one among; 0 for none."),
]
Seed = Annotated[int, Option(help="The same seed gives the same result.")]

# What is written.
MechanismOutput = Annotated[Path | None, Option("--output", "-o", help="Write the mechanism file (.sfm).")]
TableOrPage = Annotated[
    Path | None, Option("--output", "-o", help="Write the table (.csv), or everything as a page (.html).")
]
Outline = Annotated[
    Path | None, Option(help="Draw the maps on this outline of land and water (.geojson, in degrees).")
]
Figure = Annotated[Path | None, Option(help="Write the figure here (.png, .svg, .pdf).")]
Picture = Annotated[bool, Option(help="Draw what was found (.png), if matplotlib is installed.")]
Dark = Annotated[bool, Option("--dark", help="Draw figures for a dark background.")]


class CommandOptions:
    """The options of a command, as fields of a dataclass."""

    __slots__ = ()

    def non_default(self, *names: str) -> list[str]:
        """Return which of some fields differ from their defaults, written as options."""
        options: Any = self
        defaults = {field.name: field.default for field in fields(options)}
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) not in (defaults[name], [])]

    def refuse(self, names: Iterable[str], why: str, hint: str) -> None:
        """Raise an error if one of some options was given; `why` is the sentence after the option's name."""
        for name in self.non_default(*names):
            raise InputError(f"{name} {why}", hint)


def options_of(kind: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Return a decorator that makes a function of one dataclass a command with an option for each field."""
    types = get_type_hints(kind, include_extras=True)
    required = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=required if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)  # type: ignore[arg-type]  # any dataclass
    ]

    def decorated(run: Callable[[T], None]) -> Callable[..., None]:
        def command(**options: Any) -> None:
            run(kind(**options))

        command.__doc__ = run.__doc__
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        vars(command)["__signature__"] = inspect.Signature(parameters)
        return command

    return decorated


@dataclass(frozen=True, slots=True)
class DesignOptions(CommandOptions):
    """The options of ``sfumato design``."""

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
    loss: Annotated[
        str,
        Option(
            "--loss",
            help="What a report costs: euclidean, manhattan, great-circle, hamming. Or how much it may cost on "
            "average, such as '500 m': the command then searches for the smallest epsilon that allows this.",
        ),
    ] = "euclidean"
    attacker_finds: Annotated[
        str | None,
        Option(help="'40 % within 500 m': search for the largest epsilon that keeps the best attacker to that."),
    ] = None
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
    each_user: Annotated[
        bool,
        Option(
            "--each-user",
            help="Design for each user, from their own visits, into a folder (--output). The same command goes on "
            "after an interruption.",
        ),
    ] = False
    least_visits: Annotated[
        int | None,
        Option(
            help=f"With --each-user: leave out users with fewer visits in the region. [default: {LEAST_VISITS}]"
        ),
    ] = None
    processes: Annotated[
        int | None, Option(help="With --each-user: how many processes design. [default: one for each core]")
    ] = None
    smoothing: Smoothing = 0.0
    held_out: Annotated[
        float | None,
        Option(
            help="Keep this share of the users (of one user: of the visits) out of the design, and state the loss "
            "on them: 0.2 for a fifth."
        ),
    ] = None
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
    bound_time: Annotated[
        float,
        Option(
            help="Seconds to prove a bound that no mechanism for points with this promise beats; 0 leaves it out."
        ),
    ] = 0.0
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


@dataclass(frozen=True, slots=True)
class SweepOptions(CommandOptions):
    """The options of ``sfumato sweep``."""

    visits: VisitsOrCity = None
    epsilons: Annotated[
        str | None, Option(help="The epsilons: '0.15/km, 0.3/km', or '0.15..0.9/km:6' for six equal steps.")
    ] = None
    distortions: Annotated[
        str | None,
        Option(help="The least errors of the best attacker, with or instead of --epsilons: '500 m, 1 km'."),
    ] = None
    users: Annotated[int | None, Option(help="One prior for each of the N users with the most visits.")] = None
    loss: Annotated[str, Option(help="What a report costs: euclidean, manhattan, great-circle, hamming.")] = (
        "euclidean"
    )
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
    output: Annotated[Path | None, Option("--output", "-o", help="Write the table (.csv).")] = None
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


PlaceOptions: TypeAlias = DesignOptions | SweepOptions
"""Options that say where a design is made."""
