"""Processes for work that is handed out: fresh ones, which never outlive the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def fresh_processes(count: int) -> Iterator[Executor]:
    """Give fresh processes, which end when the block fails, and when this process ends, however that happens.

    Each has one thread of BLAS, and leaves Ctrl-C to this process. They are not forked: a fork would copy the
    locks of BLAS and of HiGHS in any state.

    Args:
        count: How many.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(theirs,))
    try:
        yield pool
    except BaseException:
        ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        ours.close()
        theirs.close()


def _begin(line: Any) -> None:
    """Begin a worker: with one thread of BLAS; it ends with the process that hands out the work."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_follow, args=(line,), daemon=True).start()


def _follow(line: Any) -> None:
    try:
        line.recv()
    except (EOFError, OSError):
        os._exit(1)
