"""SQLite store of workspaces, jobs and designs, with their files."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from sfumato._system import try_lock
from sfumato.errors import FileError

from .errors import RefusedError
from .limits import STATES_KEPT, WORKSPACES

Row = dict[str, Any]

_REPORTS: Final = (".html", ".json")
_STATES: Final = ".states"
_OPTION: Final = "--folder FOLDER"

_TABLES: Final = sa.MetaData()


def _table(name: str, words: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table of rows with an id, words that are always there, and other columns."""
    texts = [sa.Column(word, sa.String, index=word == "workspace", nullable=False) for word in words.split()]
    return sa.Table(name, _TABLES, sa.Column("id", sa.String, primary_key=True), *texts, *columns)


_WORKSPACES: Final = _table(
    "workspaces",
    "title created changed",
    *(sa.Column(name, sa.JSON) for name in ("data", "site", "outline")),
    sa.Column("view", sa.JSON, nullable=False),
)
_JOBS: Final = _table(
    "jobs",
    "workspace kind status title created changed unit",
    *(sa.Column(name, sa.Float, nullable=False) for name in ("done", "total")),
    *(sa.Column(name, sa.JSON, nullable=False) for name in ("progress", "request")),
    sa.Column("maximise", sa.Boolean, nullable=False),
    *(sa.Column(name, sa.JSON) for name in ("error", "result")),
)
_DESIGNS: Final = _table(
    "designs",
    "workspace job made",
    sa.Column("epsilon", sa.Float, nullable=False),
    sa.Column("frontier", sa.Boolean, nullable=False),
    sa.Column("facts", sa.JSON, nullable=False),
)


class Store:
    """SQLite database of workspaces, jobs and designs, next to the folders of their files."""

    def __init__(self, folder: Path) -> None:
        name = repr(str(folder))
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_shared = os.name == "posix" and folder.stat().st_mode & stat.S_IWOTH
            if not is_shared:
                database = _create_files(folder)
                self._running = os.fdopen(os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600), "r+b")
        except OSError as error:
            raise FileError(
                f"the folder {name} cannot be used ({error.strerror}).", f"name another: {_OPTION}."
            ) from None
        if is_shared:
            raise FileError(f"anyone can write in the folder {name}.", f"name one of your own: {_OPTION}.")
        if not try_lock(self._running.fileno()):
            self._running.close()
            raise FileError(
                f"another studio is running on the folder {name}.",
                f"use its page, end it with Ctrl-C, or name another folder: {_OPTION}.",
            )
        self.folder = folder
        self._lock = threading.RLock()
        self._engine = sa.create_engine(
            f"sqlite:///{database}", connect_args={"check_same_thread": False, "timeout": 30}
        )
        sa.event.listen(self._engine, "connect", _tune)
        try:
            _TABLES.create_all(self._engine)
            running = _JOBS.c.status.in_(["queued", "running"])
            self._write(sa.update(_JOBS).where(running).values(status="interrupted"))
            for row in self.workspaces():
                self._tidy(row)
        except SQLAlchemyError as error:
            self.close()
            raise FileError(
                f"the studio's memory {str(database)!r} cannot be used ({error.__cause__ or error!s}).",
                f"put a copy back, or name another folder: {_OPTION}.",
            ) from None

    def close(self) -> None:
        """Close the database, and let another studio use the folder."""
        self._engine.dispose()
        self._running.close()

    def _rows(self, query: sa.Select[Any]) -> list[Row]:
        with self._lock, self._engine.connect() as connection:
            return [row._asdict() for row in connection.execute(query)]

    def _find_row(self, table: sa.Table, missing: RefusedError, **columns: str) -> Row:
        for row in self._rows(sa.select(table).filter_by(**columns)):
            return row
        raise missing

    def _write(self, *statements: sa.Executable) -> None:
        with self._lock, self._engine.begin() as connection:
            for statement in statements:
                connection.execute(statement)

    def make_workspace(self) -> Row:
        """Return a new, empty workspace."""
        with self._lock:
            if (count := len(self.workspaces())) >= WORKSPACES:
                raise RefusedError(429, f"There are {count} workspaces already.", "delete old ones first.")
            identity, time = secrets.token_hex(16), now()
            row = {"id": identity, "title": "Untitled", "created": time, "changed": time, "view": {}}
            self._write(sa.insert(_WORKSPACES).values(**row))
            self.files(identity).mkdir(mode=0o700)
            (self.files(identity) / "designs").mkdir(mode=0o700)
            return self.workspace(identity)

    def workspaces(self) -> list[Row]:
        """Return all workspaces, the last changed first."""
        return self._rows(sa.select(_WORKSPACES).order_by(_WORKSPACES.c.changed.desc()))

    def workspace(self, identity: str) -> Row:
        """Return a workspace."""
        missing = RefusedError(404, "There is no such workspace.", "begin a new one; this one was deleted.")
        return self._find_row(_WORKSPACES, missing, id=identity)

    def change_workspace(self, identity: str, **values: Any) -> None:
        """Change columns of a workspace."""
        changed = {**values, "changed": now()}
        self._write(sa.update(_WORKSPACES).where(_WORKSPACES.c.id == identity).values(**changed))

    def draw(self, identity: str, outline: Row | None) -> None:
        """Keep the outline of a workspace, and drop the reports that show another."""
        self.change_workspace(identity, outline=outline)
        self.drop_reports(identity)

    def drop_reports(self, workspace: str, design: str = "*", but: str = "") -> None:
        """Delete the cached reports of a design, or of all designs, except those with one stem."""
        for ending in _REPORTS:
            for path in (self.files(workspace) / "designs").glob(f"{design}.*{ending}"):
                if path.name != f"{but}{ending}":
                    path.unlink(missing_ok=True)

    def delete_workspace(self, identity: str) -> None:
        """Delete a workspace with its jobs, designs and files; the files first, in case this is interrupted."""
        shutil.rmtree(self.files(identity), ignore_errors=True)
        self._write(*_deletions(identity), sa.delete(_WORKSPACES).where(_WORKSPACES.c.id == identity))

    def start_over(self, identity: str) -> None:
        """Delete the jobs and designs of a workspace."""
        self._write(*_deletions(identity))
        designs = self.files(identity) / "designs"
        shutil.rmtree(designs, ignore_errors=True)
        designs.mkdir(mode=0o700, exist_ok=True)

    def files(self, identity: str) -> Path:
        """Return the folder of a workspace's files."""
        return self.folder / "workspaces" / identity

    def orders(self, workspace: Row, kind: str, request: Row) -> Row:
        """Return the orders of a process that works for a workspace."""
        folder = str(self.files(workspace["id"]))
        known = {name: workspace[name] for name in ("data", "site")}
        return {"kind": kind, "folder": folder, **known, "request": request}

    def states(self, workspace: str, job: str) -> Path:
        """Return the folder of a job's checkpoints."""
        return self.files(workspace) / "designs" / f"{job}{_STATES}"

    def drop_states(self, workspace: str, job: str) -> None:
        """Delete the checkpoints of a job."""
        shutil.rmtree(self.states(workspace, job), ignore_errors=True)

    def drop_old_states(self, workspace: str, but: set[str]) -> None:
        """Delete the oldest checkpoints of stopped jobs, except those of some jobs."""
        identities = [row["id"] for row in self.jobs(workspace) if row["id"] not in but]
        there = [job for job in identities if self.states(workspace, job).is_dir()]
        for job in there[:-STATES_KEPT]:
            self.drop_states(workspace, job)

    def make_job(self, workspace: str, **values: Any) -> Row:
        """Return a new job of a workspace."""
        time = now()
        row: Row = {
            "id": secrets.token_hex(8),
            "workspace": workspace,
            "status": "running",
            "created": time,
            "changed": time,
            "done": 0.0,
            "total": 1.0,
            "progress": [],
            "maximise": False,
            "error": None,
            "result": None,
            **values,
        }
        self._write(sa.insert(_JOBS).values(**row))
        return row

    def jobs(self, workspace: str) -> list[Row]:
        """Return the jobs of a workspace, the oldest first."""
        return self._rows(
            sa.select(_JOBS).where(_JOBS.c.workspace == workspace).order_by(_JOBS.c.created, _JOBS.c.id)
        )

    def job(self, workspace: str, identity: str) -> Row:
        """Return a job."""
        missing = RefusedError(404, "There is no such job.", "load the page again.")
        return self._find_row(_JOBS, missing, id=identity, workspace=workspace)

    def change_job(self, identity: str, **values: Any) -> None:
        """Change columns of a job."""
        self._write(sa.update(_JOBS).where(_JOBS.c.id == identity).values(**values, changed=now()))

    def delete_job(self, identity: str) -> None:
        """Delete a job; its designs stay."""
        self._write(sa.delete(_JOBS).where(_JOBS.c.id == identity))

    def add_design(self, workspace: str, job: str, identity: str, *, frontier: bool, facts: Row) -> None:
        """Store the facts of a design."""
        row = {
            "id": identity,
            "workspace": workspace,
            "job": job,
            "epsilon": facts["epsilon"],
            "made": now(),
            "frontier": frontier,
            "facts": facts,
        }
        self._write(sa.insert(_DESIGNS).values(**row))

    def designs(self, workspace: str) -> list[Row]:
        """Return the designs of a workspace, by epsilon."""
        query = sa.select(_DESIGNS).where(_DESIGNS.c.workspace == workspace)
        return self._rows(query.order_by(_DESIGNS.c.epsilon, _DESIGNS.c.made))

    def design(self, workspace: str, identity: str) -> Row:
        """Return a design."""
        missing = RefusedError(404, "There is no such design.", "load the page again.", "design")
        return self._find_row(_DESIGNS, missing, id=identity, workspace=workspace)

    def delete_design(self, workspace: str, identity: str) -> None:
        """Delete a design and its files."""
        self._write(sa.delete(_DESIGNS).where(_DESIGNS.c.id == identity, _DESIGNS.c.workspace == workspace))
        for path in (self.files(workspace) / "designs").glob(f"{identity}.*"):
            path.unlink(missing_ok=True)

    def _tidy(self, workspace: Row) -> None:
        """Delete interrupted uploads, and files that no workspace uses."""
        data = workspace["data"] or {}
        if "visits" in data:  # of an earlier version
            data = {**{name: value for name, value in data.items() if name != "visits"}, "file": data["visits"]}
            self.start_over(workspace["id"])
            self.change_workspace(workspace["id"], data=data)
        files, used = self.files(workspace["id"]), data.get("file")
        shutil.rmtree(files / "upload", ignore_errors=True)
        for path in (*files.glob("visits-*.parquet"), *files.glob("mechanism-*.sfm")):
            if path.name != used:
                with suppress(OSError):  # the studio serves the other workspaces all the same
                    path.unlink(missing_ok=True)


def _deletions(workspace: str) -> list[sa.Executable]:
    """Return statements that delete the jobs and designs of a workspace."""
    return [sa.delete(table).where(table.c.workspace == workspace) for table in (_JOBS, _DESIGNS)]


def now() -> str:
    """Return the time, as answers write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _create_files(folder: Path) -> Path:
    """Create the files of the store, for their owner only; return the path of the database."""
    (folder / "workspaces").mkdir(mode=0o700, exist_ok=True)
    (folder / "workspaces").chmod(0o700)
    database = folder / "studio.db"
    database.touch(mode=0o600)  # SQLite gives its other files the same rights
    for path in folder.glob(f"{database.name}*"):
        path.chmod(0o600)
    return database


def _tune(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
