"""An audit of samples: pairs of a secret and a report, in two columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DataError, InputError, row_value

if TYPE_CHECKING:
    from ...audits import Audit, Request
    from ...statistics import Sample
    from .given import Given


def audit_samples(
    file: Path, columns: str, bins: int | None, given: Given, also: Iterable[Request], failure: float
) -> Audit:
    """Return what the samples in two columns of a CSV or Parquet file show.

    Args:
        file: The file.
        columns: The columns of the secrets and of the reports, with a comma between.
        bins: How many bins to count reports in that are numbers; None for labels.
        given: The options beside the samples.
        also: What else to measure.
        failure: The probability that a bound is wrong.
    """
    from ...audits import audit

    sample = _sample(file, columns, bins)
    prior = given.prior_on(sample.secrets)
    metric = given.metric_on(sample.secrets)
    return audit(sample, metric=metric, prior=prior, **given.numbers(), also=also, failure=failure)


def _sample(path: Path, columns: str, bins: int | None) -> Sample:
    from ...core import Space
    from ...statistics import Sample
    from ...tables import read_columns

    named = [name.strip() for name in columns.split(",") if name.strip()]
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
    for row, value in enumerate(values, 1):
        if not isinstance(value, int | float):
            raise DataError(
                f"{path.name} has {row_value(repr(value), 'a value')} in row {row} of the column {output} "
                "that is not a number.",
                "leave --bins out.",
            )
    return Sample.of_values(table[secret].to_pylist(), values, bins, space=space)


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels, numbers by size and all else by its text."""
    try:
        distinct = list(dict.fromkeys(labels))
    except TypeError:
        raise DataError(
            "the column of the secrets holds lists or mappings.",
            "name a column of texts or numbers with --columns.",
        ) from None
    if all(type(label) in (int, float) for label in distinct):
        return sorted(distinct)
    return sorted(distinct, key=str)
