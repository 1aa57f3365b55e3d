"""Tables that ``sfumato audit`` reads: a prior, facts, pairs, families, interventions, and trade-off curves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from ...errors import DataError, InputError, row_value
from ..messages import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core import Prior, Space
    from ...privacy import Events, Family, GaussianTradeOff, Relation, Rivals, TradeOff


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by name.

    Attributes:
        events: The facts.
        names: Their names, in order.
    """

    events: Events
    names: tuple[str, ...]


def prior_from(space: Space, text: str) -> Prior:
    """Return the prior that ``--prior`` names: ``uniform``, or a table of ``secret`` and ``probability``.

    Secrets that the table does not name have probability 0.

    Raises:
        InputError: If it is neither, or the probabilities do not sum to 1.
        DataError: If the file is not such a table.
    """
    import numpy as np

    from ...core import Prior

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
    given = np.zeros(len(space))
    given[secrets] = _numbers(table, "probability", path)
    return Prior(space, given)


def facts_from(space: Space, path: Path) -> Facts:
    """Return the facts of a table.

    The columns are ``event`` and ``secret``, a row for each secret of which the fact is
    true; or ``secret`` and ``value``, the value of an attribute for every secret.

    Raises:
        DataError: If the file is not such a table.
        InputError: If a fact is true of no secret or of all.
    """
    import numpy as np

    from ...privacy import Events

    table = _read(space, path, (), labels=("secret",))
    given = {"event", "value"} & set(table.column_names)
    if len(given) != 1:
        raise DataError(
            f"{path.name} has the columns {', '.join(table.column_names)}.",
            "give event and secret (a row for each secret of which the fact is true), or secret and value (of an "
            "attribute).",
        )
    (name,) = given
    table = _read(space, path, ("secret", name), labels=("secret",))
    secrets, said = _positions(space, table, "secret", path), _texts(table, name)
    names = tuple(dict.fromkeys(said))
    if name == "value":
        _once(space, secrets, path)
        if len(names) < 2:
            raise DataError(f"{path.name} holds one value of the attribute.", "give at least two.")
    masks = np.zeros((len(names), len(space)), dtype=np.bool_)
    masks[[names.index(each) for each in said], secrets] = True
    for fact, mask in zip(names, masks, strict=True):
        if name == "event" and mask.all():
            raise DataError(f"{path.name} says that {fact!r} is true of every secret.", "leave that event out.")
    return Facts(Events(masks, attribute=name == "value"), names)


def rivals_from(facts: Facts | None, path: Path) -> Rivals:
    """Return pairs of facts that must look alike: a table with the columns ``event`` and ``rival``.

    Raises:
        DataError: If the file is not such a table, or names an unknown fact.
        InputError: If no facts were given, or two rivals share a secret.
    """
    import numpy as np

    from ...privacy import Rivals
    from ...tables import read_columns

    if facts is None:
        raise InputError("--rivals was given without --events.", "name the facts in the file of --events.")
    table = read_columns(path, ("event", "rival"), as_text=("event", "rival"))
    size = len(facts.names)
    pairs = np.zeros((size, size), dtype=np.bool_)
    for one, other in zip(_texts(table, "event"), _texts(table, "rival"), strict=True):
        for name in (one, other):
            if name not in facts.names:
                shown = row_value(f"the event {name!r},", "an event")
                raise DataError(
                    f"{path.name} names {shown} which --events does not have.",
                    f"--events has {_some(facts.names)}.",
                )
        i, j = facts.names.index(one), facts.names.index(other)
        if i == j:
            raise DataError(
                f"{path.name} makes {row_value(repr(one), 'an event')} a rival of itself.",
                "name two different events.",
            )
        pairs[i, j] = pairs[j, i] = True
    return Rivals(facts.events.masks, pairs)


def relation_from(space: Space, path: Path) -> Relation:
    """Return the pairs of secrets that must look alike: a table with the columns ``secret`` and ``other``.

    Raises:
        DataError: If the file is not such a table.
    """
    from ...privacy import Relation

    table = _read(space, path, ("secret", "other"), labels=("secret", "other"))
    first, second = (_positions(space, table, name, path) for name in ("secret", "other"))
    if not (first != second).any():
        raise DataError(f"{path.name} lists no pair of two different secrets.", "give a row for each pair.")
    labels = space.labels
    return Relation.of_pairs(space, [(labels[i], labels[j]) for i, j in zip(first, second, strict=True)])


def family_from(space: Space, path: Path) -> Family:
    """Return distributions: a table with the columns ``distribution``, ``secret`` and ``probability``.

    Secrets that a distribution does not name have probability 0 under it.

    Raises:
        DataError: If the file is not such a table.
        InputError: If a distribution does not sum to 1.
    """
    import numpy as np

    from ...privacy import Family

    table = _read(space, path, ("distribution", "secret", "probability"), labels=("distribution", "secret"))
    secrets, names = _positions(space, table, "secret", path), _texts(table, "distribution")
    rows = {name: np.zeros(len(space)) for name in dict.fromkeys(names)}
    seen = set()
    for name, secret, share in zip(names, secrets, _numbers(table, "probability", path), strict=True):
        if (name, secret) in seen:
            raise DataError(
                f"{path.name} names {space.labels[secret]!r} twice for the distribution {name!r}.", "name it once."
            )
        seen.add((name, secret))
        rows[name][secret] = share
    return Family(rows)


def interventions_from(space: Space, path: Path) -> tuple[NDArray[np.intp], ...]:
    """Return what secrets become when a record is set to a value.

    The columns are ``record``, ``value``, ``secret`` and ``becomes``; every secret needs
    a row for each value of each record.

    Raises:
        DataError: If the file is not such a table, or a row is missing.
    """
    import numpy as np

    columns = ("record", "value", "secret", "becomes")
    table = _read(space, path, columns, labels=columns)
    secrets, images = (_positions(space, table, name, path) for name in ("secret", "becomes"))
    rows: dict[str, dict[str, NDArray[np.intp]]] = {}
    for record, value, secret, image in zip(
        _texts(table, "record"), _texts(table, "value"), secrets, images, strict=True
    ):
        row = rows.setdefault(record, {}).setdefault(value, np.full(len(space), -1, dtype=np.intp))
        row[secret] = image
    for record, values in rows.items():
        for value, row in values.items():
            if (row < 0).any():
                missing = space.labels[int(np.argmax(row < 0))]
                raise DataError(
                    f"{path.name} does not say what {missing!r} becomes when {record!r} is {value!r}.",
                    "give a row for every secret; one may stay what it is.",
                )
    return tuple(np.stack(list(values.values())) for values in rows.values())


def curve_from(text: str) -> TradeOff | GaussianTradeOff:
    """Return a trade-off curve: ``mu=1``, ``epsilon=1``, ``epsilon=1,delta=0.01``, or a file of its vertices.

    The file has the columns ``alpha``, rising from 0 to 1, and ``beta``, falling to 0; the
    curve is straight between them.

    Raises:
        DataError: If the file is not such a table, or its points make no trade-off curve.
        InputError: If a number is out of range.
    """
    from ...core import units
    from ...privacy import GaussianTradeOff, TradeOff

    if "=" not in text:
        return _vertices(Path(text))
    given = {}
    for part in text.split(","):
        name, _, value = (each.strip() for each in part.partition("="))
        given[name] = units.parse(value, unit="", what=name)
    if set(given) == {"mu"}:
        return GaussianTradeOff(given["mu"])
    if set(given) in ({"epsilon"}, {"epsilon", "delta"}):
        return TradeOff.of_epsilon(**given)
    raise InputError(f"{text!r} is not a curve.", "write mu=1, epsilon=1, epsilon=1,delta=0.01, or name a file.")


def _vertices(path: Path) -> TradeOff:
    from ...privacy import TradeOff
    from ...tables import read_columns

    table = read_columns(path, ("alpha", "beta"))
    alphas, betas = (_numbers(table, name, path) for name in ("alpha", "beta"))
    with option(path.name):
        return TradeOff.of_vertices(alphas, betas)


def _read(space: Space, path: Path, columns: tuple[str, ...], *, labels: tuple[str, ...]) -> Any:
    from ...tables import numeric, read_columns

    kept = {"event", "value", "distribution", "record"} & {*labels, *columns}
    return read_columns(path, columns, as_text=kept if numeric(space) else {*labels, *kept})


def _positions(space: Space, table: Any, column: str, path: Path) -> NDArray[np.intp]:
    import numpy as np

    from ...tables import find

    found = find(space, table[column])
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        unknown = table[column][row].as_py()
        raise DataError(
            f"{path.name} names {row_value(repr(unknown), 'a label')} in row {row + 1} of the column {column}, "
            "which is not one of the secrets.",
            f"the secrets are {_some(space.labels)}.",
        )
    if not len(found):
        raise DataError(f"{path.name} has no rows.", "write at least one.")
    return found


def _once(space: Space, positions: NDArray[np.intp], path: Path) -> None:
    """Check that every secret is there, once."""
    import numpy as np

    counts = np.bincount(positions, minlength=len(space))
    if (counts != 1).any():
        place = int(np.argmax(counts != 1))
        raise DataError(
            f"{path.name} gives {space.labels[place]!r} {counts[place]} values.", "give every secret exactly one."
        )


def _texts(table: Any, column: str) -> list[str]:
    return [str(value) for value in table[column].to_pylist()]


def _numbers(table: Any, column: str, path: Path) -> list[float]:
    from pyarrow import ArrowException

    from ...tables import cause

    try:
        values: list[float | None] = table[column].cast("float64").to_pylist()
    except ArrowException as error:
        raise DataError(
            f"the column {column} of {path.name} does not hold numbers ({cause(error)}).",
            "write numbers there, such as 0.25.",
        ) from None
    found = [value for value in values if value is not None]
    if len(found) < len(values):
        raise DataError(f"a cell of the column {column} of {path.name} is empty.", "write a number there.")
    return found


def _some(names: Iterable[Hashable], most: int = 8) -> str:
    given = [str(name) for name in names]
    return ", ".join(given[:most]) + (f" and {len(given) - most} more" if len(given) > most else "")
