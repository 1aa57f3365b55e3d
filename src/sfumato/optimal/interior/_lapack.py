"""LAPACK's Cholesky routines called without the interpreter lock.

SciPy's Python wrappers hold the lock while LAPACK runs, so threads gain nothing from
them. The same compiled routines are published by `scipy.linalg.cython_lapack` as function
pointers; `ctypes` releases the lock around a call through such a pointer.

All matrices are n x n, C-ordered, with the meaningful triangle on or above the diagonal
(LAPACK sees the transpose and is told "L").
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import cast

from scipy.linalg import cython_blas, cython_lapack

from ._arrays import Floats

_LOWER = ctypes.byref(ctypes.c_char(b"L"))
_PLAIN = ctypes.byref(ctypes.c_char(b"N"))
_TRANSPOSED = ctypes.byref(ctypes.c_char(b"T"))
_ONE = ctypes.byref(ctypes.c_int(1))
_BYTES = 8


def _routine(module: object, name: str, arguments: int) -> Callable[..., None]:
    capsule = cast(dict[str, object], vars(module)["__pyx_capi__"])[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype = ctypes.c_char_p
    get_name.argtypes = [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, get_name(capsule))
    return ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * arguments))(address)


_POTRF = _routine(cython_lapack, "dpotrf", 5)
_POTRI = _routine(cython_lapack, "dpotri", 5)
_TRSV = _routine(cython_blas, "dtrsv", 8)


def factor(matrix: Floats) -> bool:
    """Overwrite a matrix with its Cholesky factor.

    Returns:
        False where it is not positive definite to working precision.
    """
    size, info = ctypes.byref(ctypes.c_int(matrix.shape[0])), ctypes.c_int()
    _POTRF(_LOWER, size, matrix.ctypes.data, size, ctypes.byref(info))
    return info.value == 0


def invert(factored: Floats) -> None:
    """Overwrite a Cholesky factor with the inverse of the matrix it came from."""
    size, info = ctypes.byref(ctypes.c_int(factored.shape[0])), ctypes.c_int()
    _POTRI(_LOWER, size, factored.ctypes.data, size, ctypes.byref(info))


def solve_each(factored: Floats, right: Floats, blocks: range) -> None:
    """Overwrite right[o] with H_o^{-1} right[o] for every o in ``blocks``.

    Args:
        factored: Array (m, n, n) of Cholesky factors.
        right: Array (m, n).
        blocks: The blocks to solve.
    """
    n = right.shape[1]
    size = ctypes.byref(ctypes.c_int(n))
    matrices, vectors = factored.ctypes.data, right.ctypes.data
    for o in blocks:
        matrix, vector = matrices + o * n * n * _BYTES, vectors + o * n * _BYTES
        # Not dpotrs: it goes through dtrsm, two to three times slower for one right-hand side (n = 300).
        _TRSV(_LOWER, _PLAIN, _PLAIN, size, matrix, size, vector, _ONE)
        _TRSV(_LOWER, _TRANSPOSED, _PLAIN, size, matrix, size, vector, _ONE)
