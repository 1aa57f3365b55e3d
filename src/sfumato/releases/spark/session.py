"""The session of Spark: found, checked, and asked for what the engine needs."""

from __future__ import annotations

import re
from typing import Any, Final

from ...errors import DataError, InputError, MissingExtraError, argument

_TOLD: Final = re.compile(r"sfumato\.errors\.\w+Error: (.*)", re.DOTALL)
_HINT: Final = "\nHint: "


def session(given: Any = None) -> Any:
    """Return a session of Spark: the one given, or the one that is active.

    Args:
        given: A session, or None.

    Raises:
        MissingExtraError: If pyspark is not installed.
        InputError: If no session is active, or it is one of Spark Connect.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("a release on Spark", "spark") from None
    found = given or SparkSession.getActiveSession()
    if found is None:
        raise InputError("no Spark session is active.", f"pass one with {argument('spark')}.")
    if not isinstance(found, SparkSession) or not hasattr(found, "_jsparkSession"):
        raise InputError(
            f"a release needs a session of Spark itself, but a value of {type(found)} was given: over Spark "
            "Connect no secret can be kept from the plan.",
            "run it where the driver runs.",
        )
    return found


def raised(error: Exception) -> Exception:
    """Return the error of the kernel that made a task fail, or the error of Spark itself.

    Args:
        error: What Spark raised.
    """
    found = _TOLD.search(str(error))
    if found is None:
        return error
    problem, _, hints = found.group(1).partition(_HINT)
    return DataError(f"in a batch of Spark, {problem.strip()}", hints.partition("\n")[0].strip())
