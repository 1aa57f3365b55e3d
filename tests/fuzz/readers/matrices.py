"""Matrices and tables of other programs: ``.npy``, ``.csv`` and ``.parquet``."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import sfumato as sf
from sfumato.files import export_table, read_matrix
from tests.files.contents import plain_file
from tests.files.forging import npy

from ..mutations import changed_array, changed_bytes, changed_table
from ..reader import Case, Reader
from .arrow import changed_arrow


class Matrices(Reader):
    """Whatever `read_matrix` reads."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        mechanism = plain_file().report_channel
        self.matrix = mechanism.matrix
        wide = "\n".join(",".join(map(repr, row)) for row in mechanism.matrix.tolist())
        named = "secret,x,y,z,w\n" + "\n".join(f"s{k},{row}" for k, row in enumerate(wide.splitlines()))
        export_table(mechanism, folder / "long.csv")
        export_table(mechanism, folder / "long.parquet")
        export_table(plain_file(tiny=True).report_channel, folder / "tiny.csv")
        self.texts = [wide, named, (folder / "long.csv").read_text(), (folder / "tiny.csv").read_text()]
        self.table = parquet.read_table(folder / "long.parquet")
        self.raw = [npy(np.asarray(self.matrix)), (folder / "long.parquet").read_bytes()]

    def case(self, rng: Random) -> Case:
        kind = rng.randrange(5)
        if kind == 0:
            return {"m.npy": changed_bytes(rng, self.raw[0], self.raw)}
        if kind == 1:
            return {"m.npy": npy(changed_array(rng, np.asarray(self.matrix)))}
        if kind == 2:
            sink = io.BytesIO()
            try:
                parquet.write_table(changed_arrow(rng, self.table), sink)
            except pa.ArrowException:  # of a type that Parquet does not have
                return {"m.parquet": changed_bytes(rng, self.raw[1], self.raw)}
            return {"m.parquet": sink.getvalue()}
        text = changed_table(rng, rng.choice(self.texts)).encode("utf-8", "surrogatepass")
        return {"m.csv": changed_bytes(rng, text) if kind == 3 else text}

    def read(self, folder: Path) -> None:
        path = next(folder.glob("m.*"))
        found = read_matrix(path)
        assert isinstance(found, sf.Mechanism)
        rows = [[int(weight) for weight in row] for row in found.weights.tolist()]
        assert all(weight >= 0 for row in rows for weight in row)
        assert all(sum(row) == 1 << found.bits for row in rows)
        assert found.shape == (len(found.secrets), len(found.observables))
        sf.save(found, folder / "again.sfm")
        assert sf.load(folder / "again.sfm") == found
        if path.suffix == ".npy":
            given = np.load(path, allow_pickle=False)
            assert np.allclose(found.matrix, given, atol=1e-9)
