"""LAPACK's Cholesky routines without the interpreter lock, and a pool of threads for them.

SciPy's wrappers hold the lock, so threads gain nothing. Matrices are n x n, C-ordered, with the triangle on or
above the diagonal, which is LAPACK's "L": it sees the transpose.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from typing import Self, TypeVar, cast

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from ..._system import single_blas_thread
from ...core.arrays import Floats

_LOWER = ctypes.byref(ctypes.c_char(b"L"))
_PLAIN = ctypes.byref(ctypes.c_char(b"N"))
_TRANSPOSED = ctypes.byref(ctypes.c_char(b"T"))
_ONE = ctypes.byref(ctypes.c_int(1))
_LEFT = ctypes.byref(ctypes.c_char(b"L"))
_RIGHT = ctypes.byref(ctypes.c_char(b"R"))
_UNIT = ctypes.byref(ctypes.c_double(1.0))
_MINUS = ctypes.byref(ctypes.c_double(-1.0))
_ZERO = ctypes.byref(ctypes.c_double(0.0))
_BYTES = 8
T = TypeVar("T")
PIECE = 1 << 15  # entries of long arrays that stay in the cache


def _routine(module: object, name: str, arguments: int) -> Callable[..., None]:
    capsule = cast(dict[str, object], vars(module)["__pyx_capi__"])[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, get_name(capsule))
    return ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * arguments))(address)


_POTRF = _routine(cython_lapack, "dpotrf", 5)
_PBTRF = _routine(cython_lapack, "dpbtrf", 6)
_POTRI = _routine(cython_lapack, "dpotri", 5)
_TRSV = _routine(cython_blas, "dtrsv", 8)
_TBSV = _routine(cython_blas, "dtbsv", 9)
_TRSM = _routine(cython_blas, "dtrsm", 11)
_SYRK = _routine(cython_blas, "dsyrk", 10)
_SYMM = _routine(cython_blas, "dsymm", 12)
_GEMM = _routine(cython_blas, "dgemm", 13)


def factor(matrix: Floats) -> bool:
    """Overwrite a matrix with its Cholesky factor; False where it is not positive definite in floats."""
    size, info = ctypes.byref(ctypes.c_int(matrix.shape[0])), ctypes.c_int()
    _POTRF(_LOWER, size, matrix.ctypes.data, size, ctypes.byref(info))
    return info.value == 0


def invert(factored: Floats) -> None:
    """Overwrite a Cholesky factor with the inverse of its matrix."""
    size, info = ctypes.byref(ctypes.c_int(factored.shape[0])), ctypes.c_int()
    _POTRI(_LOWER, size, factored.ctypes.data, size, ctypes.byref(info))


def factor_panel(matrix: Floats, start: int, end: int, stop: int) -> bool:
    """Factor columns start to end, which reach rows before stop, and update the rest; False as `factor`."""
    n, info = matrix.shape[0], ctypes.c_int()
    base = matrix.ctypes.data
    stride, columns, below = (ctypes.byref(ctypes.c_int(k)) for k in (n, end - start, stop - end))
    corner, panel, rest = (base + (i * n + j) * _BYTES for i, j in ((start, start), (start, end), (end, end)))
    _POTRF(_LOWER, columns, corner, stride, ctypes.byref(info))
    if info.value == 0 and stop > end:
        _TRSM(_RIGHT, _LOWER, _TRANSPOSED, _PLAIN, below, columns, _UNIT, corner, stride, panel, stride)
        _SYRK(_LOWER, _PLAIN, below, columns, _MINUS, panel, stride, _UNIT, rest, stride)
    return info.value == 0


def invert_panel(factored: Floats, inverse: Floats, start: int, end: int, stop: int) -> None:
    """Compute the rows start to end of an inverse from the later ones; the diagonal block goes to ``factored``."""
    n, info = factored.shape[0], ctypes.c_int()
    stride, columns, below, after = (ctypes.byref(ctypes.c_int(k)) for k in (n, end - start, stop - end, n - stop))
    corner, panel = (factored.ctypes.data + (start * n + j) * _BYTES for j in (start, end))
    near, far = (inverse.ctypes.data + (start * n + j) * _BYTES for j in (end, stop))
    known, known_far = (inverse.ctypes.data + (end * n + j) * _BYTES for j in (end, stop))
    if stop > end:
        _TRSM(_RIGHT, _LOWER, _PLAIN, _PLAIN, below, columns, _UNIT, corner, stride, panel, stride)
        _SYMM(_LEFT, _LOWER, below, columns, _MINUS, known, stride, panel, stride, _ZERO, near, stride)
    if n > stop > end:
        shape = after, columns, below
        _GEMM(_PLAIN, _PLAIN, *shape, _MINUS, known_far, stride, panel, stride, _ZERO, far, stride)
    elif n > stop:
        inverse[start:end, stop:] = 0.0
    _POTRI(_LOWER, columns, corner, stride, ctypes.byref(info))
    if stop > end:
        shape = columns, columns, below
        _GEMM(_TRANSPOSED, _PLAIN, *shape, _MINUS, panel, stride, near, stride, _UNIT, corner, stride)


def sweep_dense(factored: Floats, vector: Floats, backward: bool) -> None:
    """Overwrite a vector (n,) with L^{-1} times it, or L^{-T} times it, L the factor (n, n)."""
    size = ctypes.byref(ctypes.c_int(len(vector)))
    # Not dpotrs: it goes through dtrsm, two to three times slower for one right-hand side (n = 300).
    way = _TRANSPOSED if backward else _PLAIN
    _TRSV(_LOWER, way, _PLAIN, size, factored.ctypes.data, size, vector.ctypes.data, _ONE)


def sweep_banded(packed: Floats, vector: Floats, backward: bool) -> None:
    """Overwrite a vector (n,) with L^{-1} times it, or L^{-T} times it, L a packed band (n, width + 1)."""
    n, diagonals = packed.shape
    size, width, stride = (ctypes.byref(ctypes.c_int(k)) for k in (n, diagonals - 1, diagonals))
    way = _TRANSPOSED if backward else _PLAIN
    _TBSV(_LOWER, way, _PLAIN, size, width, packed.ctypes.data, stride, vector.ctypes.data, _ONE)


def factor_packed(packed: Floats) -> bool:
    """Overwrite a band with its Cholesky factor, [j, k] for row j + k, column j; False as `factor`."""
    n, diagonals = packed.shape
    size, width, stride = (ctypes.byref(ctypes.c_int(k)) for k in (n, diagonals - 1, diagonals))
    info = ctypes.c_int()
    _PBTRF(_LOWER, size, width, packed.ctypes.data, stride, ctypes.byref(info))
    return info.value == 0


class StoppedError(Exception):
    """The work was stopped."""


class Workers:
    """Thread pool over contiguous shares of blocks; ``over`` says between blocks whether to stop."""

    def __init__(self, threads: int, over: Callable[[], bool] | None = None) -> None:
        self._over = over
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, initializer=np.seterr, initargs=("ignore",))
        self._state = ExitStack()

    def __enter__(self) -> Self:
        self._state.enter_context(single_blas_thread())
        # A breakdown shows as a number that is not finite, which the method looks for: it needs no warnings.
        self._state.enter_context(np.errstate(all="ignore"))
        return self

    def __exit__(self, *_: object) -> None:
        self._state.close()
        self._pool.shutdown()

    def check(self) -> None:
        """Raise `StoppedError` if the work must stop."""
        if self._over is not None and self._over():
            raise StoppedError

    def share(self, function: Callable[[range], T], blocks: int) -> list[T]:
        """Return the results of ``function`` on each share of range(blocks), in order."""
        self.check()
        count = max(1, min(self.threads, blocks))
        edges = [blocks * k // count for k in range(count + 1)]
        shares = [range(a, b) for a, b in pairwise(edges)]
        if count == 1:
            return [function(shares[0])]
        return list(self._pool.map(function, shares))

    def pieces(self, function: Callable[[slice], T], count: int) -> list[T]:
        """Return the results of ``function`` on consecutive slices of range(count) that fit into the cache."""

        def part(share: range) -> list[T]:
            cuts = range(share.start, share.stop, PIECE)
            return [function(slice(start, min(start + PIECE, share.stop))) for start in cuts]

        if count <= PIECE:
            self.check()
            return part(range(count))
        return [result for results in self.share(part, count) for result in results]
