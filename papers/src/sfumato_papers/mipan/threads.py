"""Single-threaded computation, for the same bytes on any number of cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from sfumato.errors import MissingExtraError


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and BLAS to one thread, and restore their numbers of threads.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError("the study of learned mechanisms", "learn") from None
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(usual)
