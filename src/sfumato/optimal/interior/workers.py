"""Thread pool with BLAS limited to one thread per worker."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits


class StoppedError(Exception):
    """The work was stopped."""


T = TypeVar("T")
# Of long arrays, as many entries at a time as stay in the cache.
PIECE = 1 << 15


class Workers:
    """Thread pool over contiguous shares of blocks; ``over`` says between blocks whether to stop."""

    def __init__(self, threads: int, over: Callable[[], bool] | None = None) -> None:
        self._over = over
        self.threads = threads
        # A breakdown shows as a number that is not finite, which the method looks for: it needs no warnings.
        self._pool = ThreadPoolExecutor(threads, initializer=np.seterr, initargs=("ignore",))
        self._quiet = np.errstate(all="ignore")
        self._limits: threadpool_limits | None = None

    def __enter__(self) -> Self:
        self._limits = threadpool_limits(1, user_api="blas")
        self._quiet.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._quiet.__exit__(None, None, None)
        self._pool.shutdown()
        if self._limits is not None:
            self._limits.restore_original_limits()

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
