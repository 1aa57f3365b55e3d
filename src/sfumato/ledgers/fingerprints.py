"""Fingerprints of mechanisms."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from ..core import JointSpace, Mechanism, NumberBins, Space
from ..errors import InputError
from ..escaping import plain
from ..geo import Places
from ..mechanisms.planar import CoordinateNoise

SIZE: Final = 32
"""Bytes of a fingerprint."""

_FORM: Final = b"sfumato 2"  # in other forms mechanisms would have other fingerprints
_WORD: Final = 16  # bytes of one weight of two words
_ADDRESS: Final = " at 0x"  # in the text of an object that says nothing of its value


def fingerprint(drawable: Any) -> bytes:
    """Return a hash of a mechanism, 32 bytes, which differs where a report could have another meaning.

    It covers the integers and both spaces (labels, coordinates, unit, coordinate reference system; of places and
    bins their description), or the recipe of noise, a frequency oracle or a tupling with all of its parameters. It
    does not depend on stated guarantees, the process, the file or the order of sets. Raises `InputError` if the
    text of a label or parameter does not show its value.
    """
    return hashlib.blake2b(_encode(drawable), digest_size=SIZE, person=_FORM).digest()


def _encode(value: Any) -> bytes:
    """Return an injective encoding: a tag, and the parts with their lengths."""
    if isinstance(value, Mechanism):
        return _encode_parts("mechanism", value.bits, _Raw(_weights(value)), value.secrets, value.observables)
    if isinstance(value, CoordinateNoise):
        centre = None if value.projection is None else (value.projection.lat, value.projection.lon)
        table = None if value.remap is None else value.remap.arrays()
        return _encode_parts("noise", value.epsilon, value.step_m, value.noise.rate, centre, value.reach_m, table)
    if isinstance(value, Places | NumberBins):
        return _encode_parts("described", type(value).__name__, value.describe())
    if isinstance(value, JointSpace):
        return _encode_parts("joint", value.names, value.parts)
    if isinstance(value, Space):
        turn = () if value.period is None else (value.period,)
        return _encode_parts("space", value.labels, value.coordinates, value.unit, value.crs, *turn)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, _Raw):
        return value
    if isinstance(value, Mapping):
        pairs = sorted(_encode_parts("pair", *pair) for pair in value.items())
        return _encode_parts("mapping", *map(_Raw, pairs))
    if isinstance(value, frozenset | set):
        return _encode_parts("set", *map(_Raw, sorted(map(_encode, value))))
    if isinstance(value, tuple | list):
        return _encode_parts("sequence", *value)
    if is_dataclass(value) and not isinstance(value, type):  # the names of its class and fields are stored, too
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return _encode_parts("made", type(value).__name__, parts)
    return _encode_parts("value", _Raw(type(value).__name__.encode()), _Raw(_text(value)))


class _Raw(bytes):
    """Bytes that stand for themselves."""

    __slots__ = ()


def _encode_parts(tag: str, *parts: Any) -> bytes:
    return b"".join(
        len(part).to_bytes(8, "big") + part for part in (tag.encode(), *(_encode(part) for part in parts))
    )


def _weights(mechanism: Mechanism) -> bytes:
    if mechanism.weights.dtype != object:
        return np.asarray(mechanism.weights, dtype="<i8").tobytes()
    return b"".join(int(weight).to_bytes(_WORD, "little") for weight in mechanism.weights.ravel())


def _array(array: np.ndarray[Any, Any]) -> bytes:
    if array.dtype.kind == "f":
        content = (array.astype("<f8") + 0.0).tobytes()  # minus zero is zero
    elif array.dtype.kind in "iub":
        content = array.astype("<i8").tobytes()
    else:
        return _encode_parts("array", array.shape, array.ravel().tolist())
    return _encode_parts("array", array.shape, array.dtype.kind, _Raw(content))


def _text(value: Hashable) -> bytes:
    """Return the text of a value, unique within its type; refuse an address in memory."""
    text = repr(value + 0.0 if isinstance(value, float) else value)
    if _ADDRESS in text:
        raise InputError(
            f"a mechanism with {type(value).__name__} {plain(text)[:60]} cannot be recognised in another process.",
            "use strings, numbers, tuples or frozensets as labels.",
        )
    return text.encode("utf-8", "surrogatepass")
