"""Marks of mechanisms: beside a CSV file, and in the metadata of Parquet and Arrow files."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import sfumato as sf
from sfumato.estimation import read_reports
from sfumato.releases import Mark, read_mark

from ..mutations import changed_bytes, changed_json, dumped
from ..reader import Case, Reader
from .arrow import ANSWERS, every

_ROWS = 12


class Marks(Reader):
    """Released tables with changed marks: reports that bear another mark are refused."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "in.csv").write_text("answer\n" + "a\nb\nc\n" * (_ROWS // 3))
        for ending in ("csv", "parquet", "arrow"):
            sf.release(ANSWERS, folder / "in.csv", folder / f"out.{ending}", column="answer", again=True)
        self.files = {ending: (folder / f"out.{ending}").read_bytes() for ending in ("csv", "parquet", "arrow")}
        self.table = parquet.read_table(folder / "out.parquet")
        self.mark = json.loads(Mark.of({"": ANSWERS}).text)

    def case(self, rng: Random) -> Case:
        kind = rng.randrange(4)
        value = changed_json(rng, self.mark) if rng.randrange(3) else self.mark
        text = dumped(rng, value)
        if kind == 0:
            ending = rng.choice(("parquet", "arrow"))
            return {f"t.{ending}": changed_bytes(rng, self.files[ending])}
        if kind == 1:
            table = self.table.replace_schema_metadata({b"sfumato": text})
            ending = rng.choice(("parquet", "arrow"))
            path = self.folder / f"marked.{ending}"
            if ending == "parquet":
                parquet.write_table(table, path)
            else:
                with pa.ipc.new_file(str(path), table.schema) as writer:
                    writer.write_table(table)
            return {f"t.{ending}": path.read_bytes()}
        return {"t.csv": self.files["csv"], "t.csv.sfumato.json": text}

    def read(self, folder: Path) -> None:
        path = next(each for each in folder.glob("t.*") if each.suffix != ".json")
        every(lambda: _mark(path), lambda: _reports(path))


def _mark(path: Path) -> None:
    found = read_mark(path)
    if found is not None:
        assert all(isinstance(each, str) for each in found.mechanisms)
        beside = path.with_name(path.name + ".sfumato.json")
        if beside.exists():
            assert json.loads(beside.read_bytes())["mechanisms"] == list(found.mechanisms)
        found.check(ANSWERS, path.name)


def _reports(path: Path) -> None:
    reports: Any = read_reports(ANSWERS, path)
    mark = read_mark(path)
    assert len(reports) > 0
    assert mark is None or mark.mechanisms == Mark.of({"": ANSWERS}).mechanisms
