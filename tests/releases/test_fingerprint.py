"""Fingerprints: one for each mechanism, whoever holds it, and another as soon as a report means something else."""

import functools
import hashlib
import json
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Lattice, Projection
from sfumato.ledgers.fingerprints import fingerprint
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling

from ..catalogue import CASES, FAMILIES

PLANE = Projection(48.86, 2.34)
EVEN = np.full((9, 9), 1 / 9)
HALF = np.full((2, 2), 0.5)


def spaces():
    """Spaces of two values that differ in one respect each."""
    return {
        "labels": sf.Space("ab"),
        "other labels": sf.Space("ac"),
        "numbers": sf.Space([1, 2]),
        "texts of numbers": sf.Space(["1", "2"]),
        "floats": sf.Space([1.0, 2.0]),
        "sets": sf.Space([frozenset("a"), frozenset("ab")]),
        "tuples": sf.Space([("a",), ("a", "b")]),
        "coordinates": sf.Space("ab", [[48.85, 2.35], [48.86, 2.35]]),
        "other coordinates": sf.Space("ab", [[48.85, 2.35], [np.nextafter(48.86, 49), 2.35]]),
        "swapped": sf.Space("ab", [[48.86, 2.35], [48.85, 2.35]]),
        "degrees": sf.Space("ab", [[48.85, 2.35], [48.86, 2.35]], crs="EPSG:4326"),
        "another crs": sf.Space("ab", [[48.85, 2.35], [48.86, 2.35]], crs="EPSG:3035"),
        "unit": sf.Space("ab", [[48.85, 2.35], [48.86, 2.35]], "km"),
        "bins": sf.NumberBins(1, 1, 2),
        "wider bins": sf.NumberBins(0, 5, 2),
        "joint": sf.JointSpace({"a": sf.Space("x"), "b": sf.NumberBins(1, 1, 2)}),
        "joint of other names": sf.JointSpace({"a": sf.Space("x"), "c": sf.NumberBins(1, 1, 2)}),
        "joint of years": sf.JointSpace({"a": sf.Space("x"), "b": sf.NumberBins(1, 1, 2, "year")}),
        "bins of years": sf.NumberBins(1, 1, 2, "year"),
    }


@functools.cache
def drawables() -> dict[str, Any]:
    """Many mechanisms, no two of which draw reports of one meaning in one way."""
    found: dict[str, Any] = {
        f"secrets: {name}": sf.Mechanism(HALF, space, sf.Space("xy")) for name, space in spaces().items()
    }
    found |= {f"reports: {name}": sf.Mechanism(HALF, sf.Space("xy"), space) for name, space in spaces().items()}
    for name, around in (("here", "48.85,2.35"), ("there", "48.8500001,2.35")):
        grid = sf.Grid.covering(f"3 km x 3 km around {around}", cell="1 km")
        lattice = Lattice.covering(f"2 km x 2 km around {around}", "1 km")
        found[f"grid {name}"] = sf.Mechanism(EVEN, grid)
        found[f"its places {name}"] = sf.Mechanism(EVEN, sf.Space(grid.labels, grid.coordinates, "m", grid.crs))
        found[f"lattice {name}"] = sf.Mechanism(np.full((len(lattice),) * 2, 1 / len(lattice)), lattice)
    two = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    visits = sf.Visits(np.linspace(48.84, 48.88, 30), np.linspace(2.3, 2.38, 30))
    found |= {
        "response": two,
        "other integers": sf.mechanisms.randomised_response(sf.Space("ab"), np.nextafter(1, 2)),
        "two words": sf.mechanisms.randomised_response(sf.Space("ab"), 60.0),
        "dummies": Tupling(two, 2, [0.5, 0.5]),
        "more dummies": Tupling(two, 3, [0.5, 0.5]),
        "other dummies": Tupling(two, 3, [0.25, 0.75]),
        "noise": CoordinateNoise("1/km", "2 m", PLANE, "30 km"),
        "stronger noise": CoordinateNoise("0.9/km", "2 m", PLANE, "30 km"),
        "coarser noise": CoordinateNoise("1/km", "3 m", PLANE, "30 km"),
        "wider noise": CoordinateNoise("1/km", "2 m", PLANE, "40 km"),
        "noise elsewhere": CoordinateNoise("1/km", "2 m", Projection(48.86, 2.35), "30 km"),
        "noise on a plane": CoordinateNoise("1/km", "2 m"),
        "remapped": CoordinateNoise.for_visits(visits, "1/km"),
        "remapped elsewhere": CoordinateNoise.for_visits(sf.Visits(visits.lat + 1e-3, visits.lon), "1/km"),
    }
    found |= {f"family {number}": family for number, family in enumerate(FAMILIES)}
    return found


def hexadecimal():
    """Fingerprints of all of these and of the catalogue, by name."""
    known = drawables() | {f"case {case}": case.mechanism for case in CASES}
    return {name: fingerprint(each).hex() for name, each in known.items()}


def test_ledgers_of_earlier_versions_know_the_mechanisms():
    """A changed name of a recipe's class or field would make a ledger forget the reports of places."""
    kinds = ("family ", "secrets: ", "reports: ")  # of exact numbers, the same on every machine
    exact = sorted(name for name in drawables() if name.startswith(kinds))
    together = hashlib.sha256(b"".join(fingerprint(drawables()[name]) for name in exact)).hexdigest()
    assert together == "d361e817053b4578923f59ab51a70406010da857354f63535da8bda6d90e4d05"


def test_no_two_are_alike():
    found = {name: fingerprint(each) for name, each in drawables().items()}
    assert len(set(found.values())) == len(found)
    assert {len(each) for each in found.values()} == {32}


@pytest.mark.slow
def test_another_process_finds_the_same():
    """Texts have other hashes in each process, so that sets of labels come in another order."""
    code = "import json; from tests.releases.test_fingerprint import hexadecimal; print(json.dumps(hexadecimal()))"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(told.stdout) == hexadecimal()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_copies_have_the_same_and_other_integers_another(case, tmp_path):
    mechanism = case.mechanism
    sf.save(mechanism, tmp_path / "m.sfm")
    other = sf.Mechanism.from_weights(
        np.array(mechanism.weights.tolist(), dtype=object),
        mechanism.bits,
        mechanism.secrets,
        mechanism.observables,
    )
    for copy in (sf.load(tmp_path / "m.sfm"), pickle.loads(pickle.dumps(mechanism)), other):
        assert fingerprint(copy) == fingerprint(mechanism)
    assert fingerprint(mechanism.promising((sf.MetricPrivacy(99.0, case.metric),))) == fingerprint(mechanism)
    weights = mechanism.weights.copy()
    s, o = np.argwhere(weights > 0)[0]
    elsewhere = (o + 1) % weights.shape[1]
    weights[s, o] -= 1
    weights[s, elsewhere] += 1
    changed = sf.Mechanism.from_weights(weights, mechanism.bits, mechanism.secrets, mechanism.observables)
    assert fingerprint(changed) != fingerprint(mechanism)


def test_places_and_noise_that_are_read_back_are_the_same(tmp_path):
    for number, each in enumerate(drawables().values()):
        if not isinstance(each, sf.Mechanism) and getattr(each, "projection", None) is None:
            continue  # no file holds it
        sf.save(each, tmp_path / f"{number}.sfm")
        read = sf.load(tmp_path / f"{number}.sfm")
        assert fingerprint(read) == fingerprint(each)


def test_minus_zero_is_zero():
    one, other = (sf.Mechanism(HALF, sf.Space("ab", [[0.0], [each]])) for each in (0.0, -0.0))
    assert fingerprint(one) == fingerprint(other)


def test_labels_that_are_only_addresses_are_refused():
    with pytest.raises(InputError, match="cannot be recognised in another process"):
        fingerprint(sf.Mechanism(HALF, sf.Space([object(), "b"])))
    assert fingerprint(sf.Mechanism(HALF, sf.Space([Fraction(1, 2), "\ud800"])))
