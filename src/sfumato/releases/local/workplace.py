"""The work folder of a release: each batch that was drawn is kept there first, readable by its owner only.

A row is drawn if and only if no part covers it. A part is written under another name, brought to the disk and then
renamed; so after a crash each row is either in a whole part, whose report stands, or in none, and then no report
of it was ever seen by anybody.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from ...core.immutable import CompactRepr
from ...errors import FileError, InputError, argument
from ...tables import cause
from ..kernel import PrivateBatch
from ..marks import Mark, mark_beside
from .runs import LOCK, RUN, check_charged, locked, of_folder, resumed, work_folder

_PART: Final = re.compile(r"part-(\d+)-(\d+)\.arrow")
_MARK: Final = "mark"
_FACTS: Final = b"facts"


@dataclass(frozen=True, slots=True, order=True)
class DrawnPart:
    """Rows of the source that have been drawn: from ``start`` up to ``stop``, not included.

    Attributes:
        start: The number of the first row, from 0.
        stop: The number after the last.
    """

    start: int
    stop: int


class Workplace(CompactRepr):
    """The hidden folder beside a target in which a release is prepared.

    Attributes:
        run: The name of this run, random; a run that goes on keeps it.
        before: How often the source had been released when the run began.
        removed: How many parts of an earlier run were removed at the start.
    """

    __slots__ = ("_folder", "_lock", "before", "removed", "run")

    def __init__(self, folder: Path, lock: int, run: str, before: int, removed: int) -> None:
        self._folder, self._lock = folder, lock
        self.run, self.before, self.removed = run, before, removed

    @classmethod
    def open(
        cls, target: Path, facts: Mapping[str, str], *, resume: bool, again: bool = False, before: int = 0
    ) -> Self:
        """Return the work folder of a target, for this process alone.

        Args:
            target: The file that will be written.
            facts: What must be the same for a run to go on: the source, the mechanisms, the options.
            resume: Whether to go on with the parts of a run that was interrupted; otherwise they are removed.
            again: Whether users may be charged once more for what a run that was interrupted has charged.
            before: How often the source had been released.

        Raises:
            FileError: If it cannot be made, or another process works there.
            InputError: If there is nothing to go on with, or something else was asked for then; or if users were
            charged for what would be removed.
        """
        folder = work_folder(target)
        try:
            if resume and not (folder / RUN).is_file():
                raise InputError(
                    f"no interrupted release to {str(target)!r} is there to go on with.",
                    f"leave out {argument('resume')}.",
                )
            lock = locked(folder, target)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise unwritable(target, error) from None
        try:
            if resume:
                return cls(folder, lock, *resumed(folder, {**facts, **of_folder(folder)}, target), 0)
            if not again:
                check_charged(folder, {**facts, **of_folder(folder)}, target)
        except BaseException:
            os.close(lock)
            raise
        try:
            old = [path for path in folder.iterdir() if path.name != LOCK]
            removed = sum(_PART.fullmatch(path.name) is not None for path in old)
            (folder / RUN).unlink(missing_ok=True)  # before the parts: see `remove`
            sync_folder(folder)
            for path in old:
                path.unlink(missing_ok=True)
            run = secrets.token_hex(16)
            place = cls(folder, lock, run, before, removed)
            kept = {"run": run, "before": before, **facts, **of_folder(folder)}
            place._write(RUN, json.dumps(kept).encode())
            return place
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
            if isinstance(error, OSError) and not isinstance(error, FileError):
                raise unwritable(target, error) from None
            raise

    @property
    def parts(self) -> list[DrawnPart]:
        """The parts that are whole, in the order of their rows."""
        found = (_PART.fullmatch(path.name) for path in self._folder.iterdir())
        return sorted(DrawnPart(int(each[1]), int(each[2])) for each in found if each is not None)

    def keep(self, part: DrawnPart, private: PrivateBatch) -> None:
        """Bring a part to the disk; only then does it count as drawn."""
        import pyarrow as pa

        names = ("dropped", "moved", "farthest_m", "without_position")
        facts = {name: getattr(private, name) for name in names}
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        schema = private.batch.schema.with_metadata({_FACTS: json.dumps(facts).encode()})
        with pa.ipc.new_file(sink, schema, options=options) as writer:
            writer.write_batch(private.batch.replace_schema_metadata(schema.metadata))
        self._write(_name(part), sink.getvalue())

    def read(self, part: DrawnPart, schema: Any) -> PrivateBatch:
        """Return a part that was kept.

        Args:
            part: The part.
            schema: The schema of its rows.

        Raises:
            FileError: If it is damaged.
        """
        import pyarrow as pa

        path = self._folder / _name(part)
        try:
            with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                facts = json.loads(reader.schema.metadata[_FACTS])
                batch = reader.get_batch(0).replace_schema_metadata(None)
            if batch.schema != schema:
                raise ValueError("it has other columns")
            lacking = int(facts.get("without_position", 0))  # parts of earlier versions do not say
            return PrivateBatch(batch, facts["dropped"], facts["moved"], facts["farthest_m"], None, lacking)
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise FileError(
                f"the part {str(path)!r} of the interrupted release is damaged ({cause(error)}).",
                f"start again without {argument('resume')}.",
            ) from None

    @property
    def table(self) -> Path:
        """The place where the table is put together; empty, and readable by its owner only."""
        path = self._folder / "table"
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return path

    @property
    def memo(self) -> Path:
        """The file of the places that have a report.

        Raises:
            FileError: If there are parts, but it is gone.
        """
        path = self._folder / "places.db"
        if self.parts and not path.is_file():
            raise FileError(
                f"{str(path)!r}, which the interrupted release needs, is gone.",
                f"start again without {argument('resume')}.",
            )
        return path

    def publish(self, table: Path, target: Path, mark: Mark | None) -> None:
        """Put the finished table, which is on the disk, in the place of the target, with a new file's rights.

        A mark of its own goes first where another table's is there, and comes last: a process that ends in
        between leaves the old table or the new one without a mark, and never with another table's.

        Args:
            table: The table, in this folder.
            target: The file that it becomes.
            mark: The mark to put beside it; None for a table that holds its own.
        """
        probe = self._folder / "rights"
        probe.unlink(missing_ok=True)
        descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        try:
            rights = os.fstat(descriptor).st_mode & 0o777
        finally:
            os.close(descriptor)
            probe.unlink()
        table.chmod(rights)
        if mark is None:
            table.replace(target)
        else:
            self._write(_MARK, f"{mark.text}\n".encode())
            (self._folder / _MARK).chmod(rights)
            mark_beside(target).unlink(missing_ok=True)
            sync_folder(target.parent)
            table.replace(target)
            sync_folder(target.parent)
            (self._folder / _MARK).replace(mark_beside(target))
        sync_folder(target.parent)

    def remove(self) -> None:
        """Remove the folder with all that is in it: what a run could go on with first.

        Were a part removed before, and the process killed, a run that goes on would draw its rows once more.
        """
        (self._folder / RUN).unlink(missing_ok=True)
        sync_folder(self._folder)
        for path in self._folder.iterdir():
            if path.name != LOCK:
                path.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Let other processes work here."""
        os.close(self._lock)

    def _write(self, name: str, content: Any) -> None:
        temporary = self._folder / f"{name}.new"
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / name)
        sync_folder(self._folder)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def unwritable(target: Path, error: OSError) -> FileError:
    """Return the error of a target that cannot be written, with what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return FileError(
        f"{str(target)!r} could not be written ({error.strerror or error}).",
        "the disk is full: free some space or write elsewhere"
        if full
        else "check the folder and its permissions.",
    )


def _name(part: DrawnPart) -> str:
    return f"part-{part.start:015d}-{part.stop:015d}.arrow"
