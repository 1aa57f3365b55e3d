"""Run asynchronous code in a test, whatever ran before it in the same process."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Found = TypeVar("Found")


def run_tasks(main: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    """Return what the coroutine of a function returns; it runs in a thread of its own.

    Playwright keeps a loop running in the main thread of a process from its first browser test on.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(main())).result()
