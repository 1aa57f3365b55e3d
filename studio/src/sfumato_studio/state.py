"""Shared state of the interface: store, jobs, and caches of domains and mechanisms."""

from __future__ import annotations

import json
import secrets
import shutil
import threading
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sfumato.core import Mechanism
from sfumato.errors import SfumatoError
from sfumato.files import read_mechanism_file
from sfumato.ledgers import Ledger
from sfumato.reports.facts import RadiusFacts, radius_of

from .domains import Domain, domain_of
from .errors import RefusedError
from .examples import example_data
from .jobs import Jobs
from .levels import best_row, closed_form_facts, write_design
from .limits import LEAST_PLACES, MECHANISM_FILE, READ_SECONDS, VISITS_FILE
from .processes import Processes, run_worker
from .store import Row, Store

_DOMAINS: Final = 16  # that stay in memory
_MECHANISMS: Final = 64


class Studio:
    """Store, jobs and caches that all requests share."""

    def __init__(self, folder: Path, ledger: Ledger | None = None, basemap: Path | None = None) -> None:
        self.store = Store(folder)
        self.jobs = Jobs(self.store)
        self.ledger = ledger
        self.basemap = basemap
        self.apart: Processes = set()
        self._closed = False
        self._domain_of = lru_cache(_DOMAINS)(lambda text, folder: domain_of(**json.loads(text), folder=folder))
        self._picture_of = lru_cache(_MECHANISMS)(lambda domain, path: domain.picture(read_mechanism_file(path)))
        self._radius_of = lru_cache(_MECHANISMS)(lambda path: radius_of(read_mechanism_file(path)))
        self._making: defaultdict[tuple[str, int], threading.Lock] = defaultdict(threading.Lock)
        self._makers: dict[str, threading.Thread] = {}

    def close(self) -> None:
        """End all processes and close the files."""
        self._closed = True
        for process in tuple(self.apart):
            process.kill()
        for maker in tuple(self._makers.values()):
            maker.join(5)
        self.jobs.close()
        self.store.close()

    def warm_up(self) -> None:
        """Load in a thread what a first level needs, so that a visitor does not wait for it."""

        def load() -> None:
            site = {"kind": "places", "detail": LEAST_PLACES, "radius_m": 1e3}
            closed_form_facts(domain_of(example_data("city"), site, self.store.folder), 0)

        threading.Thread(target=load, daemon=True).start()

    def fill(self, identity: str, request: Mapping[str, Any]) -> None:
        """Fill a workspace with a file; its designs and jobs are dropped."""
        folder, token = self.store.files(identity), secrets.token_hex(8)
        apart = folder / "upload" / token
        apart.mkdir(mode=0o700, parents=True)
        try:
            orders = {"kind": "read", "folder": str(apart), "request": request}
            late = "The file could not be read in reasonable time or memory."
            refusal = RefusedError(422, late, "use some of its rows.", "file")
            data = run_worker(orders, READ_SECONDS, refusal, self.apart)
            for name in (VISITS_FILE, MECHANISM_FILE):
                if (apart / name).exists():
                    stem, _, ending = name.partition(".")
                    data["file"] = f"{stem}-{token}.{ending}"
                    (apart / name).replace(folder / data["file"])
            site = {"kind": data["kind"]} if data["source"] == "mechanism" else None
            self.start_over(identity, data=data, site=site, outline=None, title=data["title"])
        finally:
            shutil.rmtree(apart, ignore_errors=True)

    def open(self, file: Path) -> str:
        """Return a new workspace with a file of this machine; `RefusedError` if it cannot be read."""
        identity: str = self.store.make_workspace()["id"]
        try:
            self.fill(identity, {"path": str(file.absolute())})
            workspace = self.store.workspace(identity)
            if workspace["site"] is not None:
                self.begin(workspace)
        except RefusedError:
            self.delete(identity)
            raise
        return identity

    def start_over(self, identity: str, **values: Any) -> None:
        """Change the data or the site of a workspace, which ends its jobs and drops its designs."""
        with self.jobs.end_all(identity):
            before = self.store.workspace(identity)["data"]
            self.store.start_over(identity)
            self.store.change_workspace(identity, **values)
        if "data" in values and before is not None and before["file"] is not None:
            (self.store.files(identity) / before["file"]).unlink(missing_ok=True)

    def delete(self, identity: str) -> None:
        """Delete a workspace."""
        with self.jobs.end_all(identity):
            self.store.delete_workspace(identity)

    def domain(self, workspace: Row) -> Domain:
        """Return the domain of a workspace; `RefusedError` if it has none yet."""
        if workspace["data"] is None:
            raise RefusedError(409, "There are no data yet.", "choose an example, or drop a file.")
        if workspace["site"] is None:
            raise RefusedError(409, "The places or values are not chosen yet.", "choose them first.")
        content = json.dumps({name: workspace[name] for name in ("data", "site")})
        return self._domain_of(content, self.store.files(workspace["id"]))

    def row(self, workspace: Row, level: int | None, design: str | None) -> Row:
        """Return the design that a request names, or that a level shows."""
        if (level is None) == (design is None):
            raise RefusedError(422, "Name either a level or a design.", "send one of them.", "level")
        if design is not None:
            return self.store.design(workspace["id"], design)
        return self.level(workspace, level or 0)

    def level(self, workspace: Row, level: int) -> Row:
        """Return the design that a level shows; its closed form is made where it is missing."""
        domain = self.domain(workspace)
        if level > (last := len(domain.epsilons) - 1):
            raise RefusedError(422, f"There is no level {level}.", f"use 0 to {last}.", "level")
        with self._making[workspace["id"], level]:
            there = best_row(domain, level, self.store.designs(workspace["id"]))
            if there is not None:
                return there
            file, facts = closed_form_facts(domain, level)
            with self.jobs.lock_site(workspace):
                identity = write_design(self.store.files(workspace["id"]), file)
                self.store.add_design(workspace["id"], "", identity, frontier=True, facts=facts)
        return self.store.design(workspace["id"], identity)

    def begin(self, workspace: Row) -> None:
        """Make the level to begin with; the others are made once the page asks for them."""
        self.level(workspace, self.domain(workspace).start)

    def make_levels(self, workspace: Row) -> None:
        """Make the levels that are missing, one after the other, in a thread."""

        def make() -> None:
            try:
                for level in self.domain(workspace).order:
                    if self._closed:
                        return
                    self.level(workspace, level)
            except (RefusedError, SfumatoError):
                return  # it was changed, or the request for this level says what is wrong
            finally:
                self._makers.pop(workspace["id"], None)

        if workspace["id"] not in self._makers:
            maker = self._makers[workspace["id"]] = threading.Thread(target=make, daemon=True)
            maker.start()

    def mechanism(self, workspace: Row, row: Row) -> Mechanism:
        """Return the matrix of a design between secrets."""
        domain = self.domain(workspace)
        if row["facts"]["n"] != len(domain.space):  # they were changed after the request was read
            raise RefusedError(409, "This design is for other places or values.", "load the page again.", "design")
        path = self.file(workspace["id"], row["id"], ".sfm")
        mechanism: Mechanism = self._picture_of(domain, path)
        return mechanism

    def error_radius(self, workspace: Row, row: Row) -> RadiusFacts | None:
        """Return the error radius of a design's reports; None if none is proved."""
        return self._radius_of(self.file(workspace["id"], row["id"], ".sfm"))

    def file(self, workspace: str, design: str, ending: str) -> Path:
        """Return a file of a design; `RefusedError` if it is not there."""
        path = self.store.files(workspace) / "designs" / f"{design}{ending}"
        if not path.is_file():
            raise RefusedError(404, "The file of this design is gone.", "make the design again.", "design")
        return path
