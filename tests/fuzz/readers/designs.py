"""Folders of designs: the index, the files, and what a second run takes for done."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np

import sfumato as sf
from sfumato.files.many import design_many

from ..mutations import changed_bytes, changed_json, dumped
from ..reader import Case, Reader

_SPACE = sf.Space(["a", "b", "c"], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "km")
_METRIC = _SPACE.metric()
_PEOPLE = {f"user {k}": sf.Prior(_SPACE, np.array([k + 1, 2, 3]) / (k + 6)) for k in range(3)}


class FoldersOfDesigns(Reader):
    """A folder whose index or files were changed: a second run makes again what is not whole."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        _run(folder)
        self.index = (folder / "index.jsonl").read_bytes()
        self.files = {path.name: path.read_bytes() for path in folder.glob("*.sfm")}

    def case(self, rng: Random) -> Case:
        lines = self.index.split(b"\n")[:-1]
        kind = rng.randrange(4)
        found = dict(self.files)
        if kind == 0:
            name = rng.choice(sorted(found))
            found[name] = changed_bytes(rng, found[name])
        elif kind == 1:
            name = rng.choice(sorted(found))
            found[name] = found[rng.choice(sorted(found))]
        index = b"\n".join(lines) + b"\n"
        if kind == 2:
            index = changed_bytes(rng, index)
        elif kind == 3:
            place = rng.randrange(len(lines))
            lines.insert(
                place if rng.randrange(2) else place + 1, dumped(rng, changed_json(rng, json.loads(lines[place])))
            )
            index = b"\n".join(lines) + b"\n"
        return {**found, "index.jsonl": index}

    def read(self, folder: Path) -> None:
        known = {path.name for path in folder.iterdir()}
        found = _run(folder)
        assert set(found.rows) == set(_PEOPLE)
        for name in _PEOPLE:
            assert (folder / f"{name}.sfm").read_bytes() == self.files[f"{name}.sfm"], (
                f"{name} is not what was asked"
            )
        made = {path.name for path in folder.iterdir()} - known - {".designing"}
        assert not made, f"other files were made: {made}"


def _run(folder: Path):
    promise = sf.MetricPrivacy(1.0, _METRIC)
    return design_many(_PEOPLE, folder, loss=_METRIC, guarantees=promise, processes=1, tie_break=False)
