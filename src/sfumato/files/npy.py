"""Arrays in numpy's own files (.npy): read only as far as the file goes, whatever its header says."""

from __future__ import annotations

import math
import os
import tokenize
import warnings
from typing import Any, Final

import numpy as np
from numpy.lib import format as layout
from numpy.typing import NDArray

from ..errors import DataError

_HEADERS: Final = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}
# numpy reads the header as Python's own text of a mapping, and lets the errors of that pass.
_UNSOUND: Final = (ValueError, TypeError, EOFError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)


def read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array of real numbers that a file holds.

    Args:
        path: The file, as `numpy.save` writes it.

    Raises:
        DataError: If the file does not exist, or it holds something else.
    """
    try:
        with open(path, "rb") as stream:
            found = _HEADERS.get(layout.read_magic(stream))
            if found is None:
                raise ValueError("its version is unknown")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that Python 2 has written it, which does no harm
                shape, columns_first, dtype = found(stream)
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
