"""The secret of a run: known to the tasks while they need it, and thrown away after."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from ...errors import InputError
from ...sampling import SECRET_BYTES


class RunSecret:
    """256 bits from the operating system, as a broadcast variable of Spark.

    Functions that refer to it hold the number of the variable and not the bytes: so neither plans, event logs
    nor the driver's commands show them. Executors fetch them as they fetch any block: encrypted on the network
    and on disks if Spark is told to encrypt these.

    Args:
        spark: The session.
    """

    def __init__(self, spark: Any) -> None:
        self._broadcast: Any = spark.sparkContext.broadcast(os.urandom(SECRET_BYTES))

    @property
    def broadcast(self) -> Any:
        """The variable, for functions that run in tasks; None if the secret has been thrown away."""
        return self._broadcast

    def check(self) -> None:
        """Refuse to go on without the secret.

        Raises:
            InputError: If it has been thrown away.
        """
        if self._broadcast is None:
            raise InputError(
                "the secret of this release has been thrown away, so its reports cannot be drawn again.",
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
        return f"RunSecret: {'thrown away' if self._broadcast is None else 'not shown'}"
