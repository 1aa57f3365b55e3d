"""Session of Spark, the secret of a run, and arguments that Spark does not serve."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ...errors import DataError, InputError, MissingExtraError, argument, python
from ...ledgers import Blur
from ...sampling import SECRET_BYTES
from ..person_limits import EPSILON, REPORTS
from .tasks import TASK_ERROR

SERVED: Final = ("column", "lat", "lon", "user", "time", "by", "within", "people", "also")
"""The arguments of `sfumato.release` that are passed on as they are."""

_UNSERVED: Final = {
    "resume": "a stopped release on Spark leaves nothing to continue: it starts again",
    "again": "a release on Spark keeps no record of the sources that were released",
    "place_column": "places are stored in a database, which Spark tasks do not use",
    "skip_damaged": "Spark reads only tables",
    "receipt": "a release on Spark writes no receipt",
    "progress": "Spark shows its own progress",
}


class RunSecret:
    """256 bits from the operating system, as a broadcast variable of Spark.

    Functions refer to it by number, so plans, event logs and the driver's commands do not show the bytes.
    Executors fetch them like any block: encrypted on network and disk if Spark is configured so.
    """

    def __init__(self, spark: Any) -> None:
        self._broadcast: Any = spark.sparkContext.broadcast(os.urandom(SECRET_BYTES))

    @property
    def broadcast(self) -> Any:
        """The variable, for functions that run in tasks; None if the secret has been destroyed."""
        return self._broadcast

    def check(self) -> None:
        """Refuse to go on if the secret has been destroyed."""
        if self._broadcast is None:
            raise InputError(
                "the secret of this release has been destroyed, so its reports cannot be drawn again.",
                "read what was written; another release adds up with it.",
            )

    def forget(self) -> None:
        """Remove the secret from the driver and all executors: nothing can be drawn again."""
        from py4j.protocol import Py4JError

        if self._broadcast is not None:
            with suppress(Py4JError):  # the session was stopped, and its executors with it
                self._broadcast.destroy(blocking=True)
            self._broadcast = None

    def __repr__(self) -> str:
        return f"RunSecret: {'destroyed' if self._broadcast is None else 'not shown'}"


def session(given: Any = None) -> Any:
    """Return the given session of Spark or the active one, but none of Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("a release on Spark", "spark") from None
    active = given or SparkSession.getActiveSession()
    if active is None:
        raise InputError("no Spark session is active.", f"pass one with {argument('spark')}.")
    if not isinstance(active, SparkSession) or not hasattr(active, "_jsparkSession"):
        raise InputError(
            f"a release needs a session of Spark itself, but a value of {type(active)} was given: over Spark "
            "Connect no secret can be kept from the plan.",
            "run it where the driver runs.",
        )
    return active


def kernel_error(error: Exception) -> Exception:
    """Return the error of the kernel that made a task fail, or the error of Spark itself."""
    data = TASK_ERROR.search(str(error))
    if data is None:
        return error
    problem, hint = json.loads(data[1])
    return DataError(f"in a batch of Spark, {problem}", hint)


def refuse_unserved(mechanism: Any, options: Mapping[str, Any]) -> None:
    """Refuse a ledger, and arguments of `sfumato.release` that a release on Spark does not have."""
    mechanisms = mechanism.values() if isinstance(mechanism, Mapping) else (mechanism,)
    if any(isinstance(each, Blur) for each in mechanisms):
        raise InputError(
            "tasks of Spark charge no ledger, so a Blur cannot be released from there.",
            python("release the file with sfumato.release, which charges it"),
            python("pass blur.mechanism, and manage the budget yourself."),
        )
    for name, value in options.items():
        if name in SERVED:
            continue
        if name not in _UNSERVED:
            raise InputError(
                f"a release has no argument {name!r}.",
                f"use {', '.join(SERVED)}, keep, outside, allow, {REPORTS}, {EPSILON} and key.",
            )
        if value:
            raise InputError(f"{_UNSERVED[name]}.", f"leave out {argument(name)}.")
