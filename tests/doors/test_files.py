"""Mechanism files of each kind: read, proved, written again in the same bytes, and refused where they lie."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf

from ..files.forging import Forger, forged, opened
from .proofs import FILES, VECTORS, proved, read

GOLDEN = json.loads((Path(__file__).parent / "proofs.json").read_text(encoding="ascii"))


def members(path: Path) -> list[list[object]]:
    """Return all that a file holds, in its order, but for the version that wrote it."""
    with zipfile.ZipFile(path) as archive:
        found: list[list[object]] = []
        for each in archive.infolist():
            data = archive.read(each)
            if each.filename == "manifest.json":
                writer = json.dumps(json.loads(data)["writer"]).encode()
                data = data.replace(b'"writer":' + writer, b'"writer":""')
            attributes = (each.date_time, each.compress_type, each.external_attr, each.extra, each.create_version)
            found.append([each.filename, *attributes, data])
        return found


def writer(path: Path) -> str:
    return str(opened(path)[0]["writer"])


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_written_again_in_the_same_bytes(name, tmp_path):
    """If the version differs, in the same bytes but for its name."""
    path, again = FILES[name], tmp_path / "again.sfm"
    sf.save(read(path), again)
    assert members(again) == members(path)
    assert again.stat().st_size - path.stat().st_size == len(writer(again)) - len(writer(path))
    assert again.read_bytes() == path.read_bytes() or writer(again) != writer(path)


@pytest.mark.parametrize("name", FILES)
def test_the_same_is_proved_of_a_file(name):
    """To the last bit if integers or exact recipes decide; sums of floats, rounded outward, to 1e-9."""
    found, golden = json.loads(json.dumps(proved(FILES[name]))), GOLDEN[name]
    assert found.keys() == golden.keys()
    for key, value in golden.items():
        if key == "bound":
            assert found[key] == pytest.approx(value, rel=1e-12)
        elif key == "tuple":
            for one, other in zip(found[key], value, strict=True):
                assert one == pytest.approx(other, rel=1e-9)
        else:
            assert found[key] == value


def test_files_without_a_matrix_of_places_are_loaded_as_what_draws():
    assert isinstance(sf.load(FILES["design line"]), sf.Mechanism)
    assert sf.load(FILES["design line"]) == read(FILES["design line"]).mechanism
    assert repr(sf.load(FILES["design tuple"])).startswith("Tupling with 8 dummies")


def promise(number: int = 0, **claims: float) -> Callable[[Forger], None]:
    """Change a promise."""
    return lambda forger: forger.manifest["guarantees"][number].update(claims)


def shift(forger: Forger) -> None:
    """Move a half of the last integer of a row to the first, so that their sum stays."""
    forger.change(forger.manifest["mechanism"], "weights", _shifted)


def _shifted(weights: np.ndarray) -> np.ndarray:
    half = weights[0, -1] // 2
    weights[0, 0] += half
    weights[0, -1] -= half
    return weights


def noise(forger: Forger) -> None:
    forger.manifest["noise"]["epsilon_per_km"] /= 2


def limit(forger: Forger) -> None:
    forger.manifest["constraints"][0]["at_most"] /= 2


def stretch(forger: Forger) -> None:
    """Double distances that have the name of a known kind."""
    forger.change(forger.metric, "array", lambda array: array * 2)


FORGERIES: dict[str, tuple[str, Callable[[Forger], Any]]] = {
    "epsilon per step": ("design line", promise(epsilon=0.69)),
    "epsilon per kilometre between cells": ("design cells", promise(epsilon=0.99)),
    "epsilon between any two points": ("design visits", promise(epsilon=0.99)),
    "epsilon on a triangular lattice": ("design triangular", promise(epsilon=0.99)),
    "epsilon of near secrets": ("design threshold", promise(epsilon=0.99)),
    "epsilon of noise": ("noise", noise),
    "an attacker's error": ("design both", promise(1, minimum=1.01)),
    "an attacker's error from the place": ("lattice", promise(1, minimum=0.6)),
    "delta of a tuple": ("design tuple", promise(delta=0.0075)),
    "a linear constraint": ("design constrained", limit),
    "integers of a row": ("design response", shift),
    "integers of a matrix of cells": ("design cells", shift),
    "distances of numbers": ("design line", stretch),
    "distances of cells": ("design cells", stretch),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("lie", FORGERIES)
def test_a_lie_is_not_proved(lie, run, tmp_path):
    """Every checksum fits, and an audit of the promises ends in exit code 1."""
    name, change = FORGERIES[lie]
    forger = Forger(*opened(FILES[name]))
    forged(tmp_path / "honest.sfm", forger.manifest, forger.members)
    assert run("audit", "honest.sfm", "--promises").code == 0
    change(forger)
    forged(tmp_path / "lie.sfm", forger.manifest, forger.members)
    assert run("audit", "lie.sfm", "--promises").code == 1


@pytest.mark.thinned(3)
@pytest.mark.parametrize("lie", [lie for lie in FORGERIES if lie.startswith(("epsilon", "integers", "distances"))])
def test_nothing_is_drawn_by_a_lie(lie, run, tmp_path):
    name, change = FORGERIES[lie]
    forger = Forger(*opened(FILES[name]))
    change(forger)
    forged(tmp_path / "lie.sfm", forger.manifest, forger.members)
    (tmp_path / "in.csv").write_text("lat,lon,answer\n48.85,2.35,1\n", encoding="ascii")
    column = (
        ()
        if name in ("noise", "design-column cells", "design-column visits", "design-column triangular")
        else ("--column", "answer")
    )
    done = run("release", "lie.sfm", "in.csv", "out.csv", *column)
    assert done.code == 1
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", ["line", "both", "cells", "triangular", "visits", "worst-case", "hours"])
def test_larger_prices_prove_no_larger_bound(name, tmp_path):
    """Prices are not believed: a bound that follows from other ones is still below what the design reaches."""
    forger = Forger(*opened(VECTORS / f"{name}.sfm"))
    for factor in (0.5, 2.0):
        forger.change(forger.prices, "prices", lambda array, factor=factor: array * factor)  # type: ignore[misc]
        forged(tmp_path / "lie.sfm", forger.manifest, forger.members)
        assert proved(tmp_path / "lie.sfm")["bound"] <= GOLDEN[f"design {name}"]["bound"] * (1 + 1e-6)
