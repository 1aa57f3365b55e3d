"""Inputs of an audit: distances, a prior, numbers, and tables of what to hide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from typer import Option

from ..errors import DataError, InputError, row_value
from .messages import option
from .options import Asymmetric, CommandOptions, DistancesFile, KindColumn, Kinds
from .outputs import check_ending

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..audits import Request, Requirement
    from ..core import Metric, Prior, Space
    from ..core.arrays import Floats
    from ..privacy import Events, Family, GaussianTradeOff, Relation, Rivals, TradeOff

TABLES: Final = (".csv", ".tsv", ".parquet")  # endings of tables; other names are columns


@dataclass(frozen=True, kw_only=True)
class MetricOptions(CommandOptions):
    """Distances between secrets."""

    metric: Annotated[str | None, Option(help="euclidean, great-circle, absolute, hamming, ...")] = None
    distances: DistancesFile = None
    asymmetric: Asymmetric = False
    unit: Annotated[str | None, Option(help="The unit of the distances.")] = None

    def metric_on(self, space: Space) -> Metric | None:
        """Return the metric of the options; by default Euclidean in kilometres for places, else None."""
        from ..core import Space
        from ..geo import Places

        if self.distances is not None:
            if self.metric is not None:
                raise InputError("both --metric and --distances were given.", "choose one.")
            return metric_from(self.distances, space, self.unit or "", asymmetric=self.asymmetric)
        self.refuse(("asymmetric",), "was given without a file of distances.", "add --distances FILE.")
        if self.metric is None:
            return space.metric("euclidean", unit=self.unit or "km") if isinstance(space, Places) else None
        numbers = [float(label) for label in space.labels if type(label) in (int, float)]  # type: ignore[arg-type]
        if space.coordinates is None and len(numbers) == len(space):
            space = Space.numbers(numbers, unit=self.unit or "")
        return space.metric(self.metric, unit=self.unit)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(MetricOptions):
    """Options of every audit: distances, requirements and the output."""

    require: Annotated[
        list[str] | None, Option(help="'epsilon <= 0.7/km', 'renyi-privacy(order=8) <= 1'. Repeatable.")
    ] = None
    output: Annotated[Path | None, Option("--output", "-o", help="Write all results (.json or .html).")] = None

    def requirements(self) -> list[Requirement]:
        """Return the requirements, after a check of the output's name."""
        from ..audits import Requirement

        check_ending(self.output, ".json", page=True)
        return [Requirement.parse(text) for text in self.require or []]


@dataclass(frozen=True, kw_only=True)
class Knowledge(AuditOptions):
    """Options of audits that measure notions: the notions, the attacker's prior, and numbers."""

    measure: Annotated[
        list[str] | None, Option(help="Also: inferential, 'adversarial(epsilon=1)', ... Repeatable.")
    ] = None
    prior: Annotated[str | None, Option(help="uniform, or a table of secret, probability.")] = None
    delta: Annotated[list[float] | None, Option(help="Measure epsilon at it. Repeatable. [default: 1e-6]")] = None
    delta_at: Annotated[
        list[float] | None, Option(help="Measure delta at this epsilon. Repeatable. [default: 0, 1]")
    ] = None

    def requests(self) -> list[Request]:
        """Return what ``--require`` and ``--measure`` name, to be measured as well."""
        from ..audits import Request, Requirement

        requests = [Requirement.parse(text).request for text in self.require or []]
        return [*requests, *(Request.parse(text) for text in self.measure or [])]

    def numbers(self) -> dict[str, Any]:
        """Return the numbers at which to measure, by the names of the audit's arguments."""
        numbers = {"deltas": self.delta, "delta_at": self.delta_at}
        return {name: values for name, values in numbers.items() if values}

    def prior_on(self, space: Space, default: Prior | None = None) -> Prior | None:
        """Return the prior that ``--prior`` names, or the default."""
        return default if self.prior is None else prior_from(space, self.prior)


@dataclass(frozen=True, kw_only=True)
class TableKnowledge(Knowledge):
    """Options of audits of a matrix: also tables of what to hide."""

    order: Annotated[list[float] | None, Option(help="Measure Rényi privacy of it. Repeatable. [default: 2]")] = (
        None
    )
    relation: Annotated[Path | None, Option(help="Pairs to make indistinguishable: secret, other.")] = None
    events: Annotated[Path | None, Option(help="Facts to hide: event, secret; or secret, value.")] = None
    rivals: Annotated[Path | None, Option(help="Pairs of --events to hide: event, rival.")] = None
    family: Annotated[Path | None, Option(help="Distributions to hide, as 'sfumato tuple' takes them.")] = None
    interventions: Annotated[Path | None, Option(help="A record's effects: record, value, secret, becomes.")] = (
        None
    )
    curve: Annotated[str | None, Option(help="Trade-off: mu=1, epsilon=1, or a table: alpha, beta.")] = None
    kinds: Kinds = None
    kind_column: KindColumn = None

    def numbers(self) -> dict[str, Any]:
        """Return the numbers at which to measure, by the names of the audit's arguments."""
        return super().numbers() | ({"orders": self.order} if self.order else {})

    def kinds_on(self, space: Space) -> dict[str, Floats] | None:
        """Return the probability of each kind of place in each secret; None without ``--kinds``."""
        from .place_options import kinds_on

        return None if self.kinds is None else kinds_on(space, self.kinds, self.kind_column)

    def tables(self, space: Space) -> dict[str, Any]:
        """Return the tables' content, by the names of the audit's arguments."""
        facts = None if self.events is None else facts_from(space, self.events)
        knowledge: dict[str, Any] = {
            "events": None if facts is None else facts.events,
            "kinds": self.kinds_on(space),
        }
        readers: dict[str, Any] = {
            "relation": relation_from,
            "rivals": lambda _, path: rivals_from(facts, path),
            "family": family_from,
            "interventions": interventions_from,
            "curve": lambda _, text: curve_from(text),
        }
        for name, read in readers.items():
            if getattr(self, name) is not None:
                knowledge[name] = read(space, getattr(self, name))
        return knowledge


def metric_from(path: Path, space: Space, unit: str, *, asymmetric: bool) -> Metric:
    """Return the distances of a file as a metric on the secrets, of the file's name."""
    from ..core import Metric

    metric = Metric(_array(path), unit, name=path.stem, symmetric=not asymmetric)
    if len(metric) != len(space):
        raise InputError(
            f"{path.name} holds distances of {len(metric)} values, but there are {len(space)} secrets.",
            "give a row and a column per secret, in their order.",
        )
    return metric


def _array(path: Path) -> Any:
    import numpy as np

    from ..files import read_npy
    from ..tables import cause

    if path.suffix.lower() == ".npy":
        return read_npy(path)
    if not path.exists():
        raise DataError(f"there is no file {str(path)!r}.", "check the path.")
    try:
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{str(path)!r} cannot be read as distances ({cause(error)}).",
            "give an array in .npy, or numbers between commas without names.",
        ) from None


class Facts(NamedTuple):
    """Facts, and their names in order."""

    events: Events
    names: tuple[str, ...]


def prior_from(space: Space, text: str) -> Prior:
    """Return a uniform prior, or that of a table of secret and probability; 0 for secrets that it lacks."""
    import numpy as np

    from ..core import Prior

    if text == "uniform":
        return Prior.uniform(space)
    path = Path(text)
    if not path.suffix:
        raise InputError(
            f"--prior {text!r} is neither uniform nor a table.", "write uniform, or name a .csv or .parquet."
        )
    table = _read(space, path, ("secret", "probability"), labels=("secret",))
    secrets = _positions(space, table, "secret", path)
    if len(np.unique(secrets)) < len(secrets):
        raise DataError(f"{path.name} names a secret twice.", "give each secret one row.")
    probabilities = np.zeros(len(space))
    probabilities[secrets] = _numbers(table, "probability", path)
    return Prior(space, probabilities)


def facts_from(space: Space, path: Path) -> Facts:
    """Return the facts of a table: event and secret where it is true, or secret and the value of an attribute."""
    import numpy as np

    from ..privacy import Events

    table = _read(space, path, (), labels=("secret",))
    columns = {"event", "value"} & set(table.column_names)
    if len(columns) != 1:
        raise DataError(
            f"{path.name} has the columns {', '.join(table.column_names)}.",
            "give event and secret (a row for each secret of which the fact is true), or secret and value (of an "
            "attribute).",
        )
    (name,) = columns
    table = _read(space, path, ("secret", name), labels=("secret",))
    secrets, texts = _positions(space, table, "secret", path), _texts(table, name, path)
    names = tuple(dict.fromkeys(texts))
    if name == "value":
        counts = np.bincount(secrets, minlength=len(space))
        if (counts != 1).any():
            place = int(np.argmax(counts != 1))
            problem = f"{path.name} gives {space.labels[place]!r} {counts[place]} values."
            raise DataError(problem, "give every secret exactly one.")
        if len(names) < 2:
            raise DataError(f"{path.name} holds one value of the attribute.", "give at least two.")
    masks = np.zeros((len(names), len(space)), dtype=np.bool_)
    masks[[names.index(text) for text in texts], secrets] = True
    for fact, mask in zip(names, masks, strict=True):
        if name == "event" and mask.all():
            raise DataError(f"{path.name} says that {fact!r} is true of every secret.", "leave that event out.")
    return Facts(Events(masks, attribute=name == "value"), names)


def rivals_from(facts: Facts | None, path: Path) -> Rivals:
    """Return pairs of facts to make indistinguishable, from a table of event and rival."""
    import numpy as np

    from ..core.naming import list_names
    from ..privacy import Rivals
    from ..tables import read_columns

    if facts is None:
        raise InputError("--rivals was given without --events.", "name the facts in the file of --events.")
    table = read_columns(path, ("event", "rival"), as_text=("event", "rival"))
    size = len(facts.names)
    pairs = np.zeros((size, size), dtype=np.bool_)
    for event, rival in zip(_texts(table, "event", path), _texts(table, "rival", path), strict=True):
        for name in (event, rival):
            if name not in facts.names:
                subject = row_value(f"the event {name!r},", "an event")
                raise DataError(
                    f"{path.name} names {subject} which --events does not have.",
                    f"--events has {list_names(facts.names)}.",
                )
        i, j = facts.names.index(event), facts.names.index(rival)
        if i == j:
            raise DataError(
                f"{path.name} makes {row_value(repr(event), 'an event')} a rival of itself.",
                "name two different events.",
            )
        pairs[i, j] = pairs[j, i] = True
    return Rivals(facts.events.masks, pairs)


def relation_from(space: Space, path: Path) -> Relation:
    """Return pairs of secrets to make indistinguishable, from a table of secret and other."""
    from ..privacy import Relation

    table = _read(space, path, ("secret", "other"), labels=("secret", "other"))
    first, second = (_positions(space, table, name, path) for name in ("secret", "other"))
    if not (first != second).any():
        raise DataError(f"{path.name} lists no pair of two different secrets.", "give a row for each pair.")
    labels = space.labels
    return Relation.of_pairs(space, [(labels[i], labels[j]) for i, j in zip(first, second, strict=True)])


def family_from(space: Space, path: Path) -> Family:
    """Return distributions from a table of distribution, secret and probability; 0 for secrets that one lacks."""
    from ..privacy import Family

    return Family(distributions_from(space, path))


def distributions_from(space: Space, path: Path, noun: str = "distribution") -> dict[str, Floats]:
    """Return the probabilities (n,) of two or more distributions of a table by name; errors call them a noun."""
    import numpy as np

    table = _read(space, path, ("distribution", "secret", "probability"), labels=("distribution", "secret"))
    secrets, names = _positions(space, table, "secret", path), _texts(table, "distribution", path)
    rows = {name: np.zeros(len(space)) for name in dict.fromkeys(names)}
    pairs = set()
    for name, secret, share in zip(names, secrets, _numbers(table, "probability", path), strict=True):
        if (name, secret) in pairs:
            raise DataError(
                f"{path.name} names {space.labels[secret]!r} twice for the {noun} {name!r}.", "name it once."
            )
        pairs.add((name, secret))
        rows[name][secret] = share
    if len(rows) < 2:
        raise DataError(f"{path.name} holds one {noun}.", f"add the rows of another {noun}, with another name.")
    return rows


def secrets_in(path: Path) -> Space:
    """Return the secrets that a table names, in the order of their first rows."""
    from ..core import Space
    from ..tables import read_columns

    labels = dict.fromkeys(read_columns(path, ("secret",))["secret"].to_pylist())
    if {None, ""} & labels.keys():
        raise DataError(f"a cell of the column secret of {path.name} is empty.", "write a label there.")
    return Space(labels)


def interventions_from(space: Space, path: Path) -> dict[str, dict[str, NDArray[np.intp]]]:
    """Return what each secret becomes when a record is set to a value, array (secrets,) by record and value."""
    import numpy as np

    columns = ("record", "value", "secret", "becomes")
    table = _read(space, path, columns, labels=columns)
    secrets, images = (_positions(space, table, name, path) for name in ("secret", "becomes"))
    rows: dict[str, dict[str, NDArray[np.intp]]] = {}
    records, settings = (_texts(table, name, path) for name in ("record", "value"))
    for record, value, secret, image in zip(records, settings, secrets, images, strict=True):
        row = rows.setdefault(record, {}).setdefault(value, np.full(len(space), -1, dtype=np.intp))
        if row[secret] >= 0:
            raise DataError(
                f"{path.name} says twice what {space.labels[secret]!r} becomes when {record!r} is {value!r}.",
                "say it once.",
            )
        row[secret] = image
    for record, values in rows.items():
        for value, row in values.items():
            if (row < 0).any():
                missing = space.labels[int(np.argmax(row < 0))]
                raise DataError(
                    f"{path.name} does not say what {missing!r} becomes when {record!r} is {value!r}.",
                    "give a row for every secret; one may stay what it is.",
                )
    return rows


def curve_from(text: str) -> TradeOff | GaussianTradeOff:
    """Return a trade-off curve: ``mu=1``, ``epsilon=1,delta=0.01``, or a file of vertices alpha and beta."""
    from ..core import units
    from ..privacy import GaussianTradeOff, TradeOff
    from ..tables import read_columns

    if "=" not in text:
        path = Path(text)
        table = read_columns(path, ("alpha", "beta"))
        vertices = [_numbers(table, name, path) for name in ("alpha", "beta")]
        with option(path.name):
            return TradeOff.of_vertices(*vertices)
    numbers = {}
    for part in text.split(","):
        name, _, value = (side.strip() for side in part.partition("="))
        numbers[name] = units.parse(value, unit="", subject=name)
    if set(numbers) == {"mu"}:
        return GaussianTradeOff(numbers["mu"])
    if set(numbers) in ({"epsilon"}, {"epsilon", "delta"}):
        return TradeOff.of_epsilon(**numbers)
    raise InputError(f"{text!r} is not a curve.", "write mu=1, epsilon=1, epsilon=1,delta=0.01, or name a file.")


def _read(space: Space, path: Path, columns: tuple[str, ...], *, labels: tuple[str, ...]) -> Any:
    from ..tables import column_list, numeric, read_columns

    texts = {"event", "value", "distribution", "record"} & {*labels, *columns}
    table = read_columns(path, (), as_text=texts if numeric(space) else {*labels, *texts})
    for column in columns:
        if column not in table.column_names:
            raise DataError(
                f"{path.name} has no column {column!r}. {column_list(table.column_names)}",
                f"it needs the columns {', '.join(columns)}.",
            )
    return table


def _positions(space: Space, table: Any, column: str, path: Path) -> NDArray[np.intp]:
    import numpy as np

    from ..core.naming import list_names
    from ..tables import find

    positions = find(space, table[column])
    if (positions < 0).any():
        row = int(np.argmax(positions < 0))
        unknown = table[column][row].as_py()
        raise DataError(
            f"{path.name} names {row_value(repr(unknown), 'a label')} in row {row + 1} of the column {column}, "
            "which is not one of the secrets.",
            f"the secrets are {list_names(space.labels)}.",
        )
    if not len(positions):
        raise DataError(f"{path.name} has no rows.", "write at least one.")
    return positions


def _texts(table: Any, column: str, path: Path) -> list[str]:
    texts = ["" if value is None else str(value) for value in table[column].to_pylist()]
    if "" in texts:
        raise DataError(f"a cell of the column {column} of {path.name} is empty.", "write a name there.")
    return texts


def _numbers(table: Any, column: str, path: Path) -> list[float]:
    from pyarrow import ArrowException

    from ..tables import cause

    try:
        values: list[float | None] = table[column].cast("float64").to_pylist()
    except ArrowException as error:
        raise DataError(
            f"the column {column} of {path.name} does not hold numbers ({cause(error)}).",
            "write numbers there, such as 0.25.",
        ) from None
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        raise DataError(f"a cell of the column {column} of {path.name} is empty.", "write a number there.")
    return present
