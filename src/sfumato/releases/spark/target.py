"""The folder that a release on Spark makes: written under a hidden name, and renamed when it is whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from ...errors import FileError
from ..marks import INSIDE, Mark

_GLOB: Final = re.compile(r"[][{}*?\\]")
_ROWS: Final = "rows"
_RUN_BYTES: Final = 8
_OWNER_ONLY: Final = 0o700


class SparkTarget:
    """A folder on whatever file system Spark writes to, and the hidden one beside it in which it is made.

    The hidden folder ``.TARGET.release-RUN`` has a name that no other run has, so that nothing that tasks of a
    killed run still write can come into this one. Only its owner may read it, on file systems that know owners.

    Args:
        spark: The session.
        target: The folder.

    Raises:
        FileError: If this names no folder of a file system that Spark knows.
    """

    def __init__(self, spark: Any, target: str) -> None:
        hadoop = spark._jvm.org.apache.hadoop.fs
        self._name = target
        with self._told():
            path = hadoop.Path(target)
            self._files = path.getFileSystem(spark._jsc.hadoopConfiguration())
            self._target = self._files.makeQualified(path)
            parent = self._target.getParent()
        if parent is None:
            raise FileError(f"{target!r} names no folder.", "choose a target below it.")
        begin = f"{parent.toString()}/.{self._target.getName()}.release-"
        self._left = hadoop.Path(_literal(begin) + "[0-9a-f]" * 2 * _RUN_BYTES)
        self._hidden = hadoop.Path(begin + os.urandom(_RUN_BYTES).hex())
        self._rows = hadoop.Path(self._hidden, _ROWS)
        self._mark = hadoop.Path(self._rows, INSIDE)
        self._owner_only = hadoop.permission.FsPermission(_OWNER_ONLY)

    @property
    def rows(self) -> str:
        """The folder in which rows are to be written, which does not exist yet."""
        return str(self._rows.toString())

    @property
    def pattern(self) -> str:
        """The same for readers, which take some characters for patterns."""
        return _literal(self.rows)

    def begin(self) -> int:
        """Make the hidden folder, and remove those of runs that were killed; return how many these were.

        Raises:
            FileError: If the target exists, or cannot be written.
        """
        with self._told():
            self._check_free()
            left = self._files.globStatus(self._left) or []
            for each in left:
                self._files.delete(each.getPath(), True)
            if not self._files.mkdirs(self._hidden, self._owner_only):
                raise FileError(f"{self._name!r} cannot be written.", "choose another target.")
            self._files.setPermission(self._hidden, self._owner_only)
            return len(left)

    def publish(self, mark: Mark) -> None:
        """Give the rows their name, with the mark among them.

        Args:
            mark: The mark.

        Raises:
            FileError: If the target exists meanwhile, or cannot be written.
        """
        with self._told():
            stream = self._files.create(self._mark, False)
            stream.write(bytearray((mark.text + "\n").encode()))
            stream.close()
            self._check_free()
            if not self._files.rename(self._rows, self._target):
                raise FileError(f"the rows cannot be given the name {self._name!r}.", "choose another target.")

    def remove(self) -> None:
        """Remove the hidden folder and what is left in it; where that fails, the next run does it."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError):
            self._files.delete(self._hidden, True)

    def _check_free(self) -> None:
        if self._files.exists(self._target):
            raise FileError(f"{self._name!r} exists already.", "choose another target, or remove it first.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            why = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
            raise FileError(f"{self._name!r} cannot be written ({why}).", "choose another target.") from None


def _literal(path: str) -> str:
    return _GLOB.sub(r"\\\g<0>", path)
