"""Worker pool using the spawn method. Workers exit with their parent."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final

_SAFE_PATH: Final = "PYTHONSAFEPATH"
_LOCK: Final = threading.Lock()


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def single_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS has one thread: on a busy machine threads wait for each other."""
    return _blas().limit(limits=1)  # type: ignore[no-any-return]


@functools.cache
def _blas() -> Any:
    """Return the BLAS libraries of numpy and scipy: looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def worker_pool(count: int) -> Iterator[Executor]:
    """Yield a pool of spawned processes, which end when the block fails and when this process ends.

    Each has one thread of BLAS, and leaves Ctrl-C to this process. They are not forked: a fork would copy the
    locks of BLAS and of HiGHS in any state. They import nothing from the current folder unless this process does.
    """
    context = _SafeContext()
    parent_end, child_end = context.Pipe()
    with _safe_path():  # multiprocessing may start a process of its own here
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(child_end,))
    try:
        yield pool
    except BaseException:
        parent_end.close()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        parent_end.close()
        child_end.close()


class _SafeProcess(SpawnProcess):
    """A process whose Python does not look for modules in the current folder."""

    def start(self) -> None:
        with _safe_path():
            super().start()


class _SafeContext(SpawnContext):
    Process = _SafeProcess


@contextmanager
def _safe_path() -> Iterator[None]:
    """Remove the current folder from the module path of Python processes started in the block."""
    with _LOCK:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


def _begin(line: Any) -> None:
    """Start a worker with one thread of BLAS that exits with its parent."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_follow, args=(line,), daemon=True).start()


def _follow(line: Any) -> None:
    try:
        line.recv()
    except (EOFError, OSError):
        os._exit(1)
