"""The options that several commands share: the name, the type and the help of each are written once.

A command takes an option by naming its type: ``region: Region = None``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from typer import Argument, Option

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
Loss = Annotated[str, Option(help="What a report costs: euclidean, manhattan, great-circle, hamming.")]
LossOrGoal = Annotated[
    str,
    Option(
        "--loss",
        help="What a report costs: euclidean, manhattan, great-circle, hamming. Or how much it may cost on "
        "average, such as '500 m': the command then searches for the smallest epsilon that allows this.",
    ),
]
AttackerFinds = Annotated[
    str | None,
    Option(help="'40 % within 500 m': search for the largest epsilon that keeps the best attacker to that."),
]
Objective = Annotated[str, Option(help="The loss to make small: expected or worst-case.")]
Failure = Annotated[float, Option(help="The probability that a bound or an interval is wrong.")]

EachUser = Annotated[
    bool,
    Option(
        "--each-user",
        help="Design for each user, from their own visits, into a folder (--output). The same command goes on "
        "after an interruption.",
    ),
]
LeastVisits = Annotated[
    int | None,
    Option(help=f"With --each-user: leave out users with fewer visits in the region. [default: {LEAST_VISITS}]"),
]
Processes = Annotated[
    int | None, Option(help="With --each-user: how many processes design. [default: one for each core]")
]
HeldOut = Annotated[
    float | None,
    Option(
        help="Keep this share of the users (of one user: of the visits) out of the design, and state the loss on "
        "them: 0.2 for a fifth."
    ),
]

# The work.
Gap = Annotated[
    float | None,
    Option(help="The relative distance from the optimum to reach. [default: 1e-6; up to 1e-4 counts as done]"),
]
TimeLimit = Annotated[float, Option(help="Seconds for each design; then its best proved answer is written.")]
BoundTime = Annotated[
    float,
    Option(help="Seconds to prove a bound that no mechanism for points with this promise beats; 0 leaves it out."),
]
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
TableOutput = Annotated[Path | None, Option("--output", "-o", help="Write the table (.csv).")]
Outline = Annotated[
    Path | None, Option(help="Draw the maps on this outline of land and water (.geojson, in degrees).")
]
Figure = Annotated[Path | None, Option(help="Write the figure here (.png, .svg, .pdf).")]
Picture = Annotated[bool, Option(help="Draw what was found (.png), if matplotlib is installed.")]
Dark = Annotated[bool, Option("--dark", help="Draw figures for a dark background.")]
