"""Options of commands, each declared once: a command takes one by its type, ``region: Region = None``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from typer import Argument, Option

from ..errors import InputError

T = TypeVar("T")

DEFAULT_EPSILON: Final = "1/km"

# What is read.
_FORMATS: Final = "A file of visits (CSV, Parquet, GPX, ...); '-' reads a pipe."
VisitsFile = Annotated[Path, Argument(help=_FORMATS)]
VisitsOrCity = Annotated[Path | None, Argument(help=f"{_FORMATS} [default: a synthetic city]")]
Latitude = Annotated[str | None, Option(help="The name of the latitude column.")]
Longitude = Annotated[str | None, Option(help="The name of the longitude column.")]
TimeColumn = Annotated[str | None, Option(help="The name of the time column.")]
UserColumn = Annotated[str | None, Option(help="The name of the user column.")]
People = Annotated[str | None, Option(help="Who is a person: column, one, file or folder.")]
SkipDamaged = Annotated[bool, Option("--skip-damaged", help="Leave out files of a folder that cannot be read.")]
SfmFile = Annotated[Path, Argument(help="A mechanism file (.sfm).")]

# Budgets.
LedgerAddress = Annotated[
    str, Argument(help="A ledger: the path of a SQLite file, or postgresql://user@host/name.", metavar="LEDGER")
]
KeyFile = Annotated[Path | None, Option(help="The file that holds the ledger's key, if it has one.")]

# The lattice or the cells, and how likely each of their members is.
Spacing = Annotated[str | None, Option(help="The distance of lattice points: '500 m'.")]
LatticeKind = Annotated[str, Option("--lattice", help="square or triangular.")]
Near = Annotated[str | None, Option(help="Serve only places this near to a visit: '300 m'.")]
Cell = Annotated[str | None, Option(help="Cells of this size: '500 m', or '750 m x 533 m'.")]
Cells = Annotated[str | None, Option(help="The number of cells: columns x rows, such as 20x15.")]
Hexagons = Annotated[str | None, Option(help="Hexagons of about this width: '500 m'.")]
Region = Annotated[str | None, Option(help="'south,west,north,east', or '8 km x 6 km around 48.85,2.35'.")]
User = Annotated[str | None, Option(help="Use the visits of this user only.")]
Smoothing = Annotated[float, Option(help="Add this many visits to each place.")]

Kinds = Annotated[Path | None, Option(help="Places and their kinds: a table or GeoJSON with a column kind.")]
KindColumn = Annotated[str | None, Option(help="The column of --kinds with the kinds.")]

# What is asked for.
Epsilons = Annotated[str | None, Option(help="'0.15/km, 0.3/km', or '0.15..0.9/km:6' for six equal steps.")]
Loss = Annotated[str, Option(help="What a report costs: euclidean, manhattan, great-circle, hamming.")]
PrivacyMetric = Annotated[str, Option(help="The distance of epsilon: euclidean, manhattan or great-circle.")]
Objective = Annotated[str, Option(help="expected or worst-case loss.")]
Failure = Annotated[float, Option(help="The probability that a bound or an interval is wrong.")]

# The work.
Gap = Annotated[float | None, Option(help="The relative gap. [default: 1e-6; for points 1e-4; of learn 0.01]")]
TimeLimit = Annotated[float, Option(help="Seconds for each design.")]
FrontierTime = Annotated[float, Option(help="Seconds for other epsilons.")]
Seed = Annotated[int, Option(help="The same seed gives the same result.")]

# What is written.
MechanismOutput = Annotated[Path | None, Option("--output", "-o", help="Write the mechanism file (.sfm).")]
TableOrPage = Annotated[Path | None, Option("--output", "-o", help="Write the table (.csv) or a page (.html).")]
Outline = Annotated[Path | None, Option(help="Draw maps on this outline of land (.geojson).")]
Figure = Annotated[Path | None, Option(help="Write the figure here (.png, .svg, .pdf).")]
DistancesFile = Annotated[
    Path | None, Option("--distances", help="A file of distances instead (.npy or .csv), from row to column.")
]
Asymmetric = Annotated[bool, Option("--asymmetric", help="The way back may be longer, in --distances.")]
Picture = Annotated[bool, Option(help="Draw the result (.png).")]
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
    empty = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)  # type: ignore[arg-type]  # any dataclass
    ]

    def decorate(run: Callable[[T], None]) -> Callable[..., None]:
        def command(**options: Any) -> None:
            run(kind(**options))

        command.__doc__ = run.__doc__
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        vars(command)["__signature__"] = inspect.Signature(parameters)
        return command

    return decorate


@dataclass(frozen=True, kw_only=True)
class VisitsOptions(CommandOptions):
    """Columns and people of visits."""

    lat: Latitude = None
    lon: Longitude = None
    user_column: UserColumn = None
    people: People = None
    skip_damaged: SkipDamaged = False

    def about_visits(self) -> list[str]:
        """Return which of these were given."""
        return self.non_default("lat", "lon", "user_column", "people", "skip_damaged")


@dataclass(frozen=True, kw_only=True)
class LatticeOptions(VisitsOptions):
    """A lattice over visits, and how long a design takes."""

    visits: VisitsOrCity = None
    loss: Loss = "euclidean"
    region: Region = None
    spacing: Spacing = None
    lattice: LatticeKind = "square"
    near: Near = None
    smoothing: Smoothing = 0.0
    time_limit: TimeLimit = 600.0
    gap: Gap = None


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(LatticeOptions):
    """A lattice or cells, and a figure."""

    cells: Cells = None
    cell: Cell = None
    hexagons: Hexagons = None
    metric: PrivacyMetric = "euclidean"
    objective: Objective = "expected"
    user: User = None
    figure: Figure = None
    picture: Picture = True
    dark: Dark = False


@dataclass(frozen=True, kw_only=True)
class SolverOptions(CommandOptions):
    """Solver and report of one design."""

    solver: Annotated[str, Option(help="auto, structured, generating, highs, simplex or clarabel.")] = "auto"
    checkpoints: Annotated[Path | None, Option(help="A folder for the state; a rerun goes on from it.")] = None
    pairs: Annotated[str, Option(help="generated, all or spanner.")] = "generated"
    report: Annotated[Path | None, Option(help="Write the report to sign (.html or .json).")] = None
    require: Annotated[list[str] | None, Option(help="'within 500 m: at most 50 %', or as in audit.")] = None
    frontier_time: FrontierTime = 60.0


@dataclass(frozen=True, kw_only=True)
class FamilyOptions(CommandOptions):
    """Distributions of the secret that reports must not distinguish."""

    family: Annotated[Path | None, Option(help="Distributions to hide: a table as for 'tuple', or a column.")] = (
        None
    )
    attribute_epsilon: Annotated[
        str | None, Option(help="With --family: the epsilon between distributions: 0.5, or 0.5/km.")
    ] = None
    attribute_delta: Annotated[float, Option(help="With --family: their delta.")] = 0.0
    relation: Annotated[
        Path | None, Option(help="With --family: only those that these pairs join: secret, other.")
    ] = None

    def check_family(self) -> None:
        """Refuse a family without an epsilon, what belongs to a family without one, and checkpoints with one."""
        if self.family is None:
            self.refuse(
                ("attribute_epsilon", "attribute_delta", "relation"),
                "was given without --family.",
                "add --family.",
            )
        elif self.attribute_epsilon is None:
            raise InputError("--family was given without --attribute-epsilon.", "add --attribute-epsilon 0.5.")
        else:
            why = "was given with --family, whose solvers have no state to resume."
            self.refuse(("checkpoints",), why, "leave it out.")


@dataclass(frozen=True, kw_only=True)
class DesignOptions(PlaceOptions, SolverOptions, FamilyOptions):
    """The options of ``sfumato design``."""

    epsilon: Annotated[str | None, Option(help=f"The epsilon to guarantee. [default: {DEFAULT_EPSILON}]")] = None
    loss: Annotated[str, Option(help="A distance, or '500 m': find the least epsilon.")] = "euclidean"
    attacker_finds: Annotated[str | None, Option(help="'40 % within 500 m': find the largest epsilon.")] = None
    max_loss: Annotated[str | None, Option(help="'500 m': maximise the attacker's error within it.")] = None
    distortion: Annotated[
        str | None, Option(help="The attacker's least average error: '800 m'; with --kinds 0.4.")
    ] = None
    kinds: Kinds = None
    kind_column: KindColumn = None
    protect_within: Annotated[str | None, Option(help="Protect only places this near: '500 m'.")] = None
    population: Annotated[Path | None, Option(help="Weighted points instead of visits.")] = None
    priors: Annotated[str | None, Option(help="A column: the least loss for the worst of its groups.")] = None
    held_out: Annotated[float | None, Option(help="State the loss on this share of users left out: 0.2.")] = None
    method: Annotated[str, Option(help="best (lower loss), table or noise.")] = "best"
    bound_time: Annotated[float, Option(help="Seconds for a lower bound on any loss.")] = 0.0
    verbose: Annotated[bool, Option("--verbose", help="Print the whole report.")] = False
    outline: Outline = None
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write the mechanism file (.sfm), and a report (.md).")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(SolverOptions, FamilyOptions):
    """The options of ``sfumato design-column``."""

    table: Annotated[Path | None, Argument(help="A table with the columns (CSV, Parquet, ...).")] = None
    column: Annotated[list[str], Option(help="The column to make private. Repeatable.")]
    epsilon: Annotated[str | None, Option(help="The epsilon to guarantee: 1, or 0.1/year for numbers.")] = None
    labels: Annotated[list[str] | None, Option(help="Possible values: a,b,c, or a file. Repeatable: sex=f,m.")] = (
        None
    )
    numbers: Annotated[
        list[str] | None, Option(help="18..99, or 18..99:5 in bins of five. Repeatable: age=18..99.")
    ] = None
    circular: Annotated[
        list[str] | None, Option(help="With --numbers: the length of their circle: 24 for hours 0..23.")
    ] = None
    distances: DistancesFile = None
    asymmetric: Asymmetric = False
    split: Annotated[
        str | None, Option(help="Of several columns: even, shares of epsilon (0.7,0.3), or joint.")
    ] = None
    prior: Annotated[str, Option(help="uniform, or data for the shares in the table.")] = "uniform"
    priors: Annotated[
        str | None, Option(help="Least loss for the worst of several: a column of groups, or a table.")
    ] = None
    loss: Annotated[str, Option(help="What a report costs: absolute (of numbers) or hamming.")] = "euclidean"
    objective: Objective = "expected"
    output: Annotated[
        Path | None, Option("--output", "-o", help="The file (.sfm); of several columns a folder.")
    ] = None
    time_limit: TimeLimit = 600.0
    gap: Gap = None
    figure: Figure = None
    picture: Picture = True
    dark: Dark = False


@dataclass(frozen=True, kw_only=True)
class SweepOptions(PlaceOptions):
    """The options of ``sfumato sweep``."""

    epsilons: Epsilons = None
    distortions: Annotated[
        str | None, Option(help="The attacker's least errors, with or instead of --epsilons: '500 m, 1 km'.")
    ] = None
    users: Annotated[int | None, Option(help="One prior for each of the N users with the most visits.")] = None
    output: Annotated[Path | None, Option("--output", "-o", help="Write the table (.csv).")] = None
