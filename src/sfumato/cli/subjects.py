"""From the options of ``sfumato audit`` to what is audited: a mechanism, samples, or a function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, InputError, SfumatoError

if TYPE_CHECKING:
    from ..core import Metric, Prior, Space
    from ..evidence.observed import Sample
    from ..files import MechanismFile


def mechanism_from(path: Path) -> MechanismFile:
    """Return what a mechanism file holds, or the mechanism of a matrix or table alone."""
    from ..files import MechanismFile, read, read_matrix

    if path.suffix.lower() == ".sfm":
        return read(path)
    try:
        return MechanismFile(read_matrix(path))
    except (DataError, InputError) as error:
        raise _what_it_is(path, error) from error


def _what_it_is(path: Path, error: SfumatoError) -> SfumatoError:
    """Return a better error where the file is a table of another kind, else the same one."""
    from ..geo.formats.columns import recognised
    from ..releases.tables import read_columns

    try:
        names = read_columns(path, ()).column_names
    except DataError:
        return error
    if {"secret", "output"} <= set(names):
        return DataError(
            f"{path.name} looks like samples (columns {', '.join(names)}), not like a matrix of probabilities.",
            "add --samples.",
        )
    try:
        # A matrix may well have columns x and y.
        rest = [name for name in names if name.strip().lower() not in ("x", "y")]
        recognised(rest, path.name, lat=None, lon=None, user=None, time=None)
    except DataError:
        return error
    return DataError(
        f"{path.name} looks like a table of places (columns {', '.join(names)}). audit needs a mechanism: a file "
        "from sfumato design, or a matrix with a row of probabilities for each secret.",
        f"make one first: sfumato design {path.name} -o mine.sfm, then sfumato audit mine.sfm.",
    )


def sample_from(path: Path, columns: str, bins: int | None) -> Sample:
    """Return the samples in two columns of a CSV or Parquet file.

    Args:
        path: The file.
        columns: The columns of the secrets and of the reports, with a comma between.
        bins: How many cells to count reports in that are numbers; None for labels.
    """
    from ..core import Space
    from ..evidence.observed import Sample
    from ..releases.tables import read_columns

    named = _parts(columns)
    if len(set(named)) != 2 or len(named) != 2:
        raise InputError(f"--columns {columns!r} does not name two columns.", "write it as secret,output.")
    secret, output = named
    table = read_columns(path, (secret, output))
    if not table.num_rows:
        raise DataError(f"{str(path)!r} holds no samples.", "write a row per sample below the names.")
    space = Space(_in_order(table[secret].to_pylist()))
    if bins is None:
        return Sample.from_columns(table, secret, output, space=space)
    values = table[output].to_pylist()
    for value in values:
        if not isinstance(value, int | float):
            raise DataError(
                f"{path.name} has {value!r} in the column {output}, not a number.", "leave --bins out."
            )
    return Sample.of_values(table[secret].to_pylist(), values, bins, space=space)


def labels_from(text: str) -> list[str | int]:
    """Return the secrets of ``--secrets``: names between commas, or numbers such as ``0-9``."""
    first, dash, last = text.partition("-")
    if dash and first.strip().isdigit() and last.strip().isdigit():
        if int(last) <= int(first):
            raise InputError(f"{text!r} names fewer than two secrets.", "write a range upwards, such as 0-9.")
        return list(range(int(first), int(last) + 1))
    labels: list[str | int] = [int(part) if part.lstrip("-").isdigit() else part for part in _parts(text)]
    if len(labels) < 2:
        raise InputError(f"{text!r} names {len(labels)} secrets.", "name at least two, such as home,work or 0-9.")
    return labels


def metric_from(space: Space, kind: str | None, distances: Path | None, unit: str | None) -> Metric | None:
    """Return the metric that the options ask for; for places Euclidean in kilometres, else none.

    Args:
        space: The secrets.
        kind: The name of a metric.
        distances: A file with the distances, array (secrets, secrets).
        unit: Their unit.
    """
    from ..core import Metric, Space
    from ..geo import Places

    if distances is not None:
        if kind is not None:
            raise InputError("both --metric and --distances were given.", "choose one.")
        found = Metric(_distances(distances), unit or "", name=distances.stem)
        if len(found) != len(space):
            raise InputError(
                f"{distances.name} holds distances of {len(found)} values, but there are {len(space)} secrets.",
                "give a row and a column per secret, in their order.",
            )
        return found
    if kind is None:
        return space.metric("euclidean", unit=unit or "km") if isinstance(space, Places) else None
    numeric = [float(label) for label in space.labels if type(label) in (int, float)]  # type: ignore[arg-type]
    if space.coordinates is None and len(numeric) == len(space):
        space = Space.numbers(numeric, unit=unit or "")
    return space.metric(kind, unit=unit)


def prior_from(space: Space, text: str | None, held: Prior | None) -> Prior | None:
    """Return the prior that ``--prior`` names: ``uniform``, or a table of ``secret`` and ``probability``."""
    import numpy as np
    from pyarrow import ArrowException

    from ..core import Prior
    from ..releases.labels import find, numeric
    from ..releases.tables import read_columns

    if text is None:
        return held
    if text == "uniform":
        return Prior.uniform(space)
    if not Path(text).suffix:
        raise InputError(
            f"--prior {text!r} is neither uniform nor a table.", "write uniform, or name a .csv or .parquet."
        )
    table = read_columns(Path(text), ("secret", "probability"), as_text=() if numeric(space) else ("secret",))
    places = find(space, table["secret"])
    if (places < 0).any():
        first = table["secret"][int(np.argmax(places < 0))].as_py()
        raise DataError(f"{text!r} names {first!r}, which is not a secret.", "use the mechanism's secrets.")
    if len(np.unique(places)) < len(places):
        raise DataError(f"{text!r} names a secret twice.", "give each secret one row.")
    given = np.zeros(len(space))
    try:
        given[places] = table["probability"].cast("float64").to_numpy()
    except ArrowException as error:
        raise DataError(f"a probability in {text!r} is not a number ({error}).", "write it as 0.25.") from None
    return Prior(space, given)


def _distances(path: Path) -> Any:
    import numpy as np

    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{str(path)!r} cannot be read as distances ({error}).",
            "give an array in .npy, or numbers between commas without names.",
        ) from error


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels, numbers by size and all else by its text."""
    distinct = list(dict.fromkeys(labels))
    if all(type(label) in (int, float) for label in distinct):
        return sorted(distinct)
    return sorted(distinct, key=str)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
