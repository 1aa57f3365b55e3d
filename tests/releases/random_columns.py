"""Random Arrow columns of any type, with a marker physically below every value that no row shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

MARKER = b"secret marker, not in any row"
_NUMBER = np.frombuffer(MARKER[:8], dtype="<i8")[0]
_TEXTS = (pa.string(), pa.binary(), pa.large_string(), pa.large_binary())
_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
_LEAVES = (
    *_TEXTS, *_VIEWS, pa.int64(), pa.uint64(), pa.float64(), pa.timestamp("us"), pa.timestamp("ns", "UTC"),
    pa.duration("s"), pa.decimal128(30, 2), pa.binary(8), pa.bool_(), pa.null(),
)  # fmt: skip


class Wrapped(pa.ExtensionType):  # type: ignore[misc]
    """An extension type that no library knows."""

    def __init__(self, storage: Any) -> None:
        super().__init__(storage, "sfumato.wrapped")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Wrapped:
        return cls(storage)


def random_type(rng: np.random.Generator, depth: int = 3) -> Any:
    """Return a type of at most so many levels."""
    choice = int(rng.integers(13))
    if depth == 0 or choice < 3:
        return _LEAVES[rng.integers(len(_LEAVES))]
    inner = random_type(rng, depth - 1)
    bare = "view<" not in str(inner) and "extension" not in str(inner)  # Arrow aborts where it validates others
    return (
        pa.struct([pa.field("x", inner, nullable=pa.types.is_null(inner))]),
        pa.struct([("x", inner), ("y", random_type(rng, depth - 1))]),
        pa.list_(inner),
        pa.large_list(inner),
        pa.list_(inner, int(rng.integers(1, 3))),
        pa.map_((pa.int64(), pa.string())[rng.integers(2)], inner),
        pa.dictionary(pa.int32(), inner),
        pa.run_end_encoded(pa.int32(), inner),
        Wrapped(inner) if bare else inner,
        pa.list_view(_LEAVES[rng.integers(len(_TEXTS))]),
    )[choice - 3]


def random_column(kind: Any, hidden: Any, rng: np.random.Generator, *, nulls: bool = True) -> Any:
    """Return a column with the marker at hidden rows, and below missing values of its own.

    Args:
        kind: Its type.
        hidden: Which rows no reader sees, array (n,).
        rng: Where the values come from.
        nulls: Whether some other rows are missing.
    """
    rows, types = len(hidden), pa.types
    if isinstance(kind, Wrapped):
        return pa.ExtensionArray.from_storage(kind, random_column(kind.storage_type, hidden, rng, nulls=nulls))
    if types.is_run_end_encoded(kind):
        ends = pa.array(np.arange(1, rows + 1), pa.int32())
        return pa.RunEndEncodedArray.from_arrays(ends, random_column(kind.value_type, hidden, rng))
    missing = rng.random(rows) < 0.35 if nulls else np.zeros(rows, dtype=bool)
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little").tobytes())
    below = hidden | missing

    def made(*buffers: Any, children: Any = ()) -> Any:
        held = [None if each is None else pa.py_buffer(each) for each in buffers]
        return pa.Array.from_buffers(kind, rows, [valid, *held], int(missing.sum()), children=list(children))

    if types.is_null(kind) or types.is_boolean(kind):
        return pa.nulls(rows) if types.is_null(kind) else pa.array(missing, mask=missing)
    if kind in _TEXTS:
        texts = [MARKER if each else b"v%d" % rng.integers(9) for each in below]
        return made(np.cumsum([0, *map(len, texts)]).astype(_offsets(kind)).tobytes(), b"".join(texts))
    if kind in _VIEWS:
        return made(*random_column(_VIEWS[kind], below, rng, nulls=False).cast(kind).buffers()[1:])
    if types.is_fixed_size_binary(kind) or types.is_decimal(kind):
        size = kind.byte_width
        return made(
            b"".join(MARKER[:8].ljust(size, b"\0") if each else b"\3".ljust(size, b"\0") for each in below)
        )
    if types.is_dictionary(kind):
        unused = np.arange(6) < 2
        where = np.where(below, rng.integers(0, 2, rows), rng.integers(2, 6, rows)).astype("<i4").tobytes()
        indices = pa.Array.from_buffers(pa.int32(), rows, [valid, pa.py_buffer(where)])
        return pa.DictionaryArray.from_arrays(indices, random_column(kind.value_type, unused, rng, nulls=False))
    if types.is_struct(kind):
        return made(children=[random_column(each.type, below, rng, nulls=each.nullable) for each in kind])
    if types.is_fixed_size_list(kind):
        return made(children=[random_column(kind.value_type, np.repeat(below, kind.list_size), rng)])
    if not types.is_nested(kind):
        return made(np.where(below, _NUMBER, 1).astype("<i8").tobytes())
    sizes, lead, trail = rng.integers(0, 3, rows), *rng.integers(0, 3, 2)
    ends = np.cumsum([lead, *sizes])
    members = np.concatenate([np.ones(lead, dtype=bool), np.repeat(below, sizes), np.ones(trail, dtype=bool)])
    if types.is_map(kind):
        entries = pa.struct([pa.field("key", kind.key_type, nullable=False), ("value", kind.item_type)])
        return made(ends.astype("<i4").tobytes(), children=[random_column(entries, members, rng, nulls=False)])
    inside = random_column(kind.value_type, members, rng)
    if types.is_list_view(kind):
        return made(ends[:-1].astype("<i4").tobytes(), sizes.astype("<i4").tobytes(), children=[inside])
    return made(ends.astype(_offsets(kind)).tobytes(), children=[inside])


def _offsets(kind: Any) -> str:
    return "<i8" if "large" in str(kind)[:5] else "<i4"
