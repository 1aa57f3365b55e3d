"""Guards around a reader: what it may raise, how long it may take, how much memory it may ask for."""

from __future__ import annotations

import faulthandler
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from sfumato.errors import SfumatoError

SECONDS = 10.0
"""Of a processor that a single small input may take."""

HANGS = 120
"""Seconds after which a process that reads a single input is ended, wherever it hangs."""

MEMORY = 256 << 20
"""Bytes that a single small input may make a process take."""

ADDRESSES = 16 << 30
"""Bytes that a process may reserve beyond what it has when it begins, whether it uses them or not."""


@contextmanager
def guarded(log: TextIO | None = None) -> Iterator[list[SfumatoError]]:
    """Let a reader refuse its input in words, and fail for anything else that goes wrong.

    Args:
        log: Where the stacks go of a process that hangs; None does not watch.

    Yields:
        A list that holds the refusal afterwards, if there is one.
    """
    refusals: list[SfumatoError] = []
    if log is not None:
        faulthandler.dump_traceback_later(HANGS, exit=True, file=log)
    begun, taken = time.process_time(), most_taken()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield refusals
    except SfumatoError as error:
        refusals.append(error)
        check_words(error)
    finally:
        if log is not None:
            faulthandler.cancel_dump_traceback_later()
    grown = most_taken() - taken
    assert grown < MEMORY, f"it took {grown >> 20:,} MiB"
    took = time.process_time() - begun
    assert took < SECONDS, f"it took {took:.1f} s"


def check_words(error: SfumatoError) -> None:
    """Fail where a refusal does not say what was wrong and what to do, in one line each and in words."""
    assert error.problem.strip(), f"{error!r} says nothing"
    assert error.hint.strip(), f"{error!r} says not what to do"
    for text in (error.problem, error.hint):
        assert "\n" not in text, f"{error!r} has a line break"
        assert "Traceback" not in text, f"{error!r} shows a traceback"
        assert len(text) < 20_000, f"a message has {len(text):,} characters: {text[:200]!r} ..."


def most_taken() -> int:
    """Return the most memory that this process has ever had, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def limit_memory() -> None:
    """Let this process reserve no more than `ADDRESSES` more than it has, for the machine's sake."""
    if sys.platform != "linux":
        return
    with open("/proc/self/statm") as stream:
        taken = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ADDRESSES, resource.RLIM_INFINITY))
