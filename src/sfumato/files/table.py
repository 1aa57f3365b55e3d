"""The mechanism as a long table, for other programs."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from ..core import Mechanism
from ..core.arguments import checked
from ..core.limbs import split
from ..releases.labels import label_column
from ..releases.tables import write_table


@checked
def export_table(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism as a table with one row per secret and observable.

    The columns are ``secret`` and ``observable`` (labels), ``weight`` (the integer, a
    decimal number of up to 38 digits; each secret's weights sum to exactly 2**bits) and
    ``probability`` (weight / 2**bits, rounded to a float).

    Args:
        mechanism: The mechanism.
        path: The file, ``.csv`` or ``.parquet``; one that exists is replaced.

    Raises:
        FileError: If the suffix is another one or the file cannot be written.
        InputError: If two labels are the same text in a table.
    """
    n, m = mechanism.shape
    secret, observable = np.divmod(np.arange(n * m), m)
    table = pa.table(
        {
            "secret": label_column(mechanism.secrets).take(pa.array(secret)),
            "observable": label_column(mechanism.observables).take(pa.array(observable)),
            "weight": _decimals(mechanism),
            "probability": mechanism.matrix.reshape(-1),
        }
    )
    write_table(table, path)


def _decimals(mechanism: Mechanism) -> pa.Array:
    """Return the weights as 128-bit decimals, whose memory is their two words, low before high."""
    high, low = split(mechanism.weights.astype(object).reshape(-1))
    words = np.column_stack([low, high]).astype("<u8", copy=False)
    kind = pa.decimal128(38, 0)
    return pa.Array.from_buffers(kind, len(words), [None, pa.py_buffer(np.ascontiguousarray(words))])
