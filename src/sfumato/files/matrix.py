"""Mechanisms of other programs: matrices and tables of probabilities."""

from __future__ import annotations

import math
import os
import re
import tokenize
import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib import format as layout
from numpy.typing import NDArray

from ..core import ONE_WORD, TWO_WORDS, Mechanism, Space, as_words
from ..core.arrays import Floats
from ..errors import DataError, InputError, row_value
from ..tables import label_column, read_columns, read_rows, readable, write_table

SUFFIXES: Final = (".npy", ".csv", ".parquet")

_LONG: Final = ("secret", "observable")
_WHOLE: Final = re.compile(r"-?[0-9]{1,4000}")
_HEADERS: Final = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}
# numpy reads the header as Python's own text of a mapping, and lets the errors of that pass.
_UNSOUND: Final = (ValueError, TypeError, EOFError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)


def read_matrix(path: str | os.PathLike[str]) -> Mechanism:
    """Return the mechanism of a matrix or table on disk.

    A ``.npy`` file holds the array (secrets, observables). A ``.csv`` or ``.parquet`` file is either wide (a row
    per secret and a column per observable; a first column of text, or one named ``secret``, holds the secrets) or
    long (columns ``secret``, ``observable`` and ``probability``; with a column ``weight``, as `export_table`
    writes it, the mechanism has the same integers). Raises `DataError` if the file does not exist, or it holds no
    such table. Raises `InputError` if an entry is negative or not finite, or a row does not sum to one within
    1e-9.
    """
    try:
        return _read(path)
    except InputError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error.problem}", *error.hints) from None


def export_table(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a ``.csv`` or ``.parquet`` file with one row per secret and observable, or replace one.

    The columns are ``secret`` and ``observable`` (labels), ``weight`` (the integer, a decimal number of up to 38
    digits; each secret's weights sum to exactly 2**bits) and ``probability`` (weight / 2**bits, rounded to a
    float). Raises `FileError` if the suffix is another one or the file cannot be written. Raises `InputError` if
    two labels are the same text in a table.
    """
    import pyarrow as pa

    n, m = mechanism.shape
    secret, observable = np.divmod(np.arange(n * m), m)
    high, low = as_words(mechanism.weights.astype(object).reshape(-1))
    words = np.ascontiguousarray(np.column_stack([low, high]).astype("<u8", copy=False))  # of 128-bit decimals
    table = pa.table(
        {
            "secret": label_column(mechanism.secrets).take(pa.array(secret)),
            "observable": label_column(mechanism.observables).take(pa.array(observable)),
            "weight": pa.Array.from_buffers(pa.decimal128(38, 0), n * m, [None, pa.py_buffer(words)]),
            "probability": mechanism.matrix.reshape(-1),
        }
    )
    write_table(table, path)


def _read(path: str | os.PathLike[str]) -> Mechanism:
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return Mechanism(read_npy(path).astype(np.float64))
    if suffix not in SUFFIXES:
        matlab = "read it with scipy.io.loadmat, and write its array with numpy.save."
        raise DataError(
            f"{os.fspath(path)!r} names no kind of matrix.",
            matlab if suffix == ".mat" else f"let the name end in one of {', '.join(SUFFIXES)}.",
        )
    names, columns = _csv(path) if suffix == ".csv" else _parquet(path)
    if set(_LONG) <= set(names):
        return _of_long(path, names, columns)
    return _of_wide(path, names, columns)


def _csv(path: str | os.PathLike[str]) -> tuple[list[str], list[list[Any]]]:
    """Return the names (empty for a table without a header) and the columns as texts."""
    rows = read_rows(path)
    if not rows:
        raise DataError(f"{os.fspath(path)!r} is empty.", "write one row per secret.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise DataError(
                f"row {number} of {os.fspath(path)!r} has {len(row)} fields, the first one {len(rows[0])}.",
                "give every row a field per observable.",
            )
    names = [] if all(_is_number(field) for field in rows[0]) else [field.strip() for field in rows.pop(0)]
    if not rows:
        raise DataError(f"{os.fspath(path)!r} has names but no rows.", "write one row per secret.")
    return names, [list(column) for column in zip(*rows, strict=True)]


def _parquet(path: str | os.PathLike[str]) -> tuple[list[str], list[list[Any]]]:
    table = read_columns(path, ())
    with readable(repr(os.fspath(path))):
        return list(table.column_names), [column.to_pylist() for column in table.columns]


def _of_wide(path: str | os.PathLike[str], names: list[str], columns: list[list[Any]]) -> Mechanism:
    labelled = bool(names) and (names[0].lower() in ("", "secret") or not all(map(_is_number, columns[0])))
    matrix = np.array([_numbers(path, column) for column in columns[labelled:]]).T
    secrets = Space(_labels(columns[0])) if labelled else None
    return Mechanism(matrix, secrets, Space(_labels(names[labelled:])) if names else None)


def _of_long(path: str | os.PathLike[str], names: list[str], columns: list[list[Any]]) -> Mechanism:
    by_name = dict(zip(names, columns, strict=True))
    both = [_labels(by_name[name]) for name in _LONG]
    spaces = [Space(dict.fromkeys(labels)) for labels in both]
    where = tuple(np.array([*map(space.position, labels)]) for space, labels in zip(spaces, both, strict=True))
    shape = (len(spaces[0]), len(spaces[1]))
    cells = np.ravel_multi_index(where, shape)
    if len(np.unique(cells)) < len(cells):
        raise DataError(
            f"{os.fspath(path)!r} gives one secret and observable two rows.", "write one row for each such pair."
        )
    if "weight" in by_name:
        return _of_weights(path, by_name["weight"], cells, shape, spaces)
    if "probability" not in by_name:
        raise DataError(
            f"{os.fspath(path)!r} has neither a column 'probability' nor 'weight'.", f"it has {', '.join(names)}."
        )
    matrix = np.zeros(shape)
    matrix.flat[cells] = _numbers(path, by_name["probability"])
    return Mechanism(matrix, *spaces)


def _of_weights(
    path: str | os.PathLike[str], column: Sequence[Any], cells: Any, shape: tuple[int, int], spaces: list[Space]
) -> Mechanism:
    try:
        integers = [int(value) for value in column]
        for value, integer in zip(column, integers, strict=True):
            if not isinstance(value, str) and value != integer:
                raise ValueError(f"{value}")
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(
            f"{os.fspath(path)!r} has a weight that is not an integer{row_value(f' ({error})', '')}.",
            "write whole numbers.",
        ) from None
    weights = np.zeros(shape, dtype=object)
    weights.flat[cells] = integers
    totals = set(weights.sum(axis=1).tolist())
    for bits in (ONE_WORD, TWO_WORDS):
        if totals == {1 << bits}:
            words = weights.astype(np.int64) if bits == ONE_WORD else weights
            return Mechanism.from_weights(words, bits, secrets=spaces[0], observables=spaces[1])
    raise DataError(
        f"the weights of a secret in {os.fspath(path)!r} sum to {sorted(totals)[0]}.",
        f"each secret's weights must sum to 2**{ONE_WORD}, or each to 2**{TWO_WORDS}; "
        "leave the column out to use probabilities.",
    )


def _labels(values: Sequence[Any]) -> list[Hashable]:
    """Return labels; texts that are whole numbers become numbers, if all are."""
    if all(isinstance(value, str) and _WHOLE.fullmatch(value.strip()) for value in values):
        numbers = [int(value.strip()) for value in values]
        if all(str(number) == value.strip() for number, value in zip(numbers, values, strict=True)):
            return list(numbers)
    if any(isinstance(value, list | dict) for value in values):
        raise DataError("a column of labels holds lists or mappings.", "write texts or numbers.")
    return [value.strip() if isinstance(value, str) else value for value in values]


def _numbers(path: str | os.PathLike[str], column: Sequence[Any]) -> Floats:
    try:
        return np.array([float(value) for value in column])
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{os.fspath(path)!r} holds an entry that is not a number{row_value(f' ({error})', '')}.",
            "write probabilities such as 0.25.",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array of real numbers in a file written by `numpy.save`.

    Raises `DataError` if the file does not exist, or it holds something else.
    """
    try:
        with open(path, "rb") as stream:
            read_header = _HEADERS.get(layout.read_magic(stream))
            if read_header is None:
                raise ValueError("its version is unknown")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that Python 2 has written it, which does no harm
                shape, columns_first, dtype = read_header(stream)
            data = stream.read()
    except OSError as error:
        raise DataError(
            f"{os.fspath(path)!r} cannot be read ({error.strerror or error}).", "check the path."
        ) from error
    except _UNSOUND as error:
        raise DataError(f"{os.fspath(path)!r} is not an array of numbers.", "save it with numpy.save.") from error
    if dtype.kind not in "fiu":
        raise DataError(f"{os.fspath(path)!r} holds no real numbers, but {dtype}.", "save an array of floats.")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(data):
        raise DataError(
            f"{os.fspath(path)!r} holds {len(data):,} bytes of numbers, which do not fit its shape {shape}.",
            "check that it was written or downloaded completely.",
        )
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if columns_first else "C")
