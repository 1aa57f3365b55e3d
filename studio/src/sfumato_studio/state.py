"""The state behind the interface: grounds, frontiers and designs of workspaces, kept ready in memory."""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from sfumato.core import Bracket, Mechanism
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.files import read_mechanism_file
from sfumato.optimal import Blend, DesignLine, LineDesign

from .grounds import StudioGround, ground_of
from .jobs import Jobs
from .processes import Processes
from .refusals import RefusedError
from .store import Row, Store
from .words import StudioWords

_KEPT: Final = 16  # grounds and lines that stay in memory


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chosen(CompactRepr):
    """The mechanism that a request is about: interpolated, or a proved design.

    Attributes:
        epsilon: As it was asked for.
        promised: What it promises.
        blend: Its numbers and rows.
        design: The stored design; None where it is interpolated.
    """

    epsilon: float
    promised: float
    blend: Blend
    design: Row | None


class Studio:
    """Everything that requests share.

    Args:
        folder: Where workspaces are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self.jobs = Jobs(self.store)
        self.apart: Processes = set()
        self._lock = threading.RLock()
        self._grounds: OrderedDict[str, tuple[str, StudioGround]] = OrderedDict()
        self._lines: OrderedDict[str, tuple[tuple[str, ...], DesignLine]] = OrderedDict()

    def close(self) -> None:
        """End all processes and close the files."""
        for process in tuple(self.apart):
            process.kill()
        self.jobs.close()
        self.store.close()

    def start_over(self, identity: str, **values: Any) -> None:
        """Change the data or the site of a workspace, which ends its jobs and drops its designs."""
        with self.jobs.without(identity):
            before = self.store.workspace(identity)["data"]
            self.store.start_over(identity)
            self.store.change_workspace(identity, **values)
            self.forget(identity)
        if "data" in values and before is not None and before["visits"] is not None:
            (self.store.files(identity) / before["visits"]).unlink(missing_ok=True)

    def delete(self, identity: str) -> None:
        """Delete a workspace."""
        with self.jobs.without(identity):
            self.store.delete_workspace(identity)
            self.forget(identity)

    def forget(self, identity: str) -> None:
        """Drop what is kept in memory of a workspace."""
        with self._lock:
            self._grounds.pop(identity, None)
            self._lines.pop(identity, None)

    def ground(self, workspace: Row) -> StudioGround:
        """Return the ground of a workspace.

        Raises:
            RefusedError: If it has none yet.
        """
        if workspace["data"] is None:
            raise RefusedError(409, "There are no data yet.", "choose an example, or drop a file.")
        if workspace["site"] is None:
            raise RefusedError(409, "The places or values are not chosen yet.", "choose them first.")
        key = json.dumps([workspace["data"], workspace["site"]], sort_keys=True)
        identity = workspace["id"]
        with self._lock:
            kept = self._grounds.get(identity)
            if kept is not None and kept[0] == key:
                self._grounds.move_to_end(identity)
                return kept[1]
        found = ground_of(workspace["data"], workspace["site"], self.store.files(identity))
        with self._lock:
            self._grounds[identity] = (key, found)
            while len(self._grounds) > _KEPT:
                self._grounds.popitem(last=False)
        return found

    def words(self, workspace: Row) -> StudioWords:
        """Return the sentences about the ground of a workspace."""
        return StudioWords(self.ground(workspace))

    def frontier(self, workspace: Row) -> list[Row]:
        """Return the designs of the frontier, by epsilon."""
        return [row for row in self.store.designs(workspace["id"]) if row["frontier"]]

    def line(self, workspace: Row) -> DesignLine:
        """Return the frontier of a workspace, in memory.

        Raises:
            RefusedError: If there is none yet.
        """
        rows = self.frontier(workspace)
        if not rows:
            raise RefusedError(409, "There is no frontier yet.", "start one, and wait for its first designs.")
        key, identity = tuple(row["id"] for row in rows), workspace["id"]
        with self._lock:
            kept = self._lines.get(identity)
            if kept is not None and kept[0] == key:
                self._lines.move_to_end(identity)
                return kept[1]
        found = DesignLine(self._on_line(workspace, row) for row in rows)
        with self._lock:
            self._lines[identity] = (key, found)
            while len(self._lines) > _KEPT:
                self._lines.popitem(last=False)
        return found

    def chosen(self, workspace: Row, epsilon: float | None, design: str | None) -> Chosen:
        """Return the mechanism that a request names.

        Raises:
            RefusedError: If it names none or two, or one that is not there.
        """
        if (epsilon is None) == (design is None):
            raise RefusedError(422, "Name either an epsilon or a design.", "send one of them.", "epsilon")
        if design is not None:
            row = self.store.design(workspace["id"], design)
            only = self._on_line(workspace, row)
            return Chosen(row["epsilon"], row["epsilon"], Blend(only, only, 1.0), row)
        self.ground(workspace)
        line, wanted = self.line(workspace), float(epsilon or 0.0)
        ends = line.designs[0].epsilon, line.designs[-1].epsilon
        if not ends[0] <= wanted <= ends[1]:
            raise RefusedError(
                422,
                f"Epsilon {wanted:g} is outside of what was designed so far.",
                f"use {ends[0]:g} to {ends[1]:g}.",
                "epsilon",
            )
        blend = line.at(wanted)
        row_of = {row["id"]: row for row in self.frontier(workspace)} if blend.single else {}
        return Chosen(wanted, blend.upper.epsilon, blend, row_of.get(blend.upper.name))

    def promised(self, workspace: Row, epsilon: float) -> float:
        """Return what a mechanism between designs promises, the larger epsilon of two; elsewhere what is asked."""
        epsilons = [row["epsilon"] for row in self.frontier(workspace)]
        if not epsilons or not epsilons[0] <= epsilon <= epsilons[-1]:
            return epsilon
        return self.chosen(workspace, epsilon, None).promised

    def mechanism(self, workspace: Row, chosen: Chosen) -> Mechanism:
        """Return a mechanism to draw from or to attack: that of a file, or an interpolated one."""
        if chosen.design is not None:
            return read_mechanism_file(self.file(workspace["id"], chosen.design["id"], ".sfm")).report_channel
        space = self.ground(workspace).space
        return Mechanism(chosen.blend.rows, space, space)

    def file(self, workspace: str, design: str, ending: str) -> Path:
        """Return a file of a design.

        Raises:
            RefusedError: If it is not there.
        """
        path = self.store.files(workspace) / "designs" / f"{design}{ending}"
        if not path.is_file():
            raise RefusedError(404, "The file of this design is gone.", "make the design again.", "design")
        return path

    def _on_line(self, workspace: Row, row: Row) -> LineDesign:
        facts: Mapping[str, Any] = row["facts"]
        if facts["n"] != len(self.ground(workspace).space):  # they were changed after the request was read
            raise RefusedError(409, "This design is for other places or values.", "load the page again.", "design")
        rows = np.load(self.file(workspace["id"], row["id"], ".npy"), allow_pickle=False)
        error = None if facts["error"] is None else bracket(facts["error"])
        return LineDesign(row["id"], row["epsilon"], rows, bracket(facts["loss"]), error, bracket(facts["found"]))


def bracket(ends: list[float | None]) -> Bracket:
    """Return numbers from JSON as a bracket; what is not known is infinite."""
    lower, value, upper = ends
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    return Bracket(least, least if value is None else value, most)


def shown(probabilities: Floats) -> list[float]:
    """Return probabilities for a picture, in six digits."""
    return [float(f"{each:.6g}") for each in probabilities.tolist()]
