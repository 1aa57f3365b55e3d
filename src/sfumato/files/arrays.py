"""Arrays as .npy members: numpy's format, read so strictly that nothing can hide in it."""

from __future__ import annotations

import io
import math
import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import readonly
from ..errors import FileError
from .manifest import DAMAGED

MAX_ENTRIES: Final = 1 << 27  # 1 GiB: 11,585 secrets with as many observables
MAX_MEMBER: Final = 8 * MAX_ENTRIES + (1 << 16)
_MAGIC: Final = b"\x93NUMPY\x01\x00"
_HEADER: Final = re.compile(
    rb"\{'descr': '(<i8|<u8|<f8)', 'fortran_order': False, 'shape': \((\d{1,10}),(?: (\d{1,10}))?\), \} *\n"
)


def packed(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array of 64-bit numbers in numpy's format, version 1.0."""
    stream = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(plain))
    return b"".join((stream.getvalue(), plain.reshape(-1).view(np.uint8).data))


def unpacked(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a member, read-only.

    Only the header that `packed` writes is accepted, and nothing in it is evaluated.

    Args:
        data: The member's bytes.
        name: The member's name, for the error message.

    Raises:
        FileError: If the header is another one, the array is too large, or the data
            do not fit the header.
    """
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if data[:8] != _MAGIC or header is None:
        raise FileError(f"its member {name!r} is not an array of 64-bit numbers.", DAMAGED)
    shape = tuple(int(size) for size in header.groups()[1:] if size is not None)
    entries = math.prod(shape)
    if entries > MAX_ENTRIES:
        raise FileError(
            f"its member {name!r} claims {entries:,} entries, more than the {MAX_ENTRIES:,} allowed.", DAMAGED
        )
    if len(data) - start != 8 * entries:
        raise FileError(
            f"its member {name!r} claims {entries:,} entries but holds {len(data) - start:,} bytes.", DAMAGED
        )
    array = np.frombuffer(data, dtype=header[1].decode(), offset=start).reshape(shape)
    return readonly(array.astype(array.dtype.newbyteorder("="), copy=False))
