"""Tuplings in files: they come back to the last bit, and nothing that a file says of them is believed."""

import json
from pathlib import Path

import numpy as np
import pyarrow
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, read_mechanism_file
from sfumato.mechanisms import TuplePrivacy, Tupling
from sfumato.proofs import Proved, prove

from .forging import forged, opened

SPACE = sf.Space("abc")
INNER = sf.mechanisms.randomised_response(SPACE, 2.0)
TUPLING = Tupling(INNER, 7, [0.25, 0.25, 0.5])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.sfm"


def test_a_tupling_comes_back(path: Path) -> None:
    held = MechanismFile(
        TUPLING,
        prior=sf.Prior.uniform(SPACE),
        loss=sf.hamming(SPACE),
        guarantees=[sf.MetricPrivacy(2.0, sf.hamming(SPACE)), TuplePrivacy(1.0, 0.2)],
    )
    sf.save(held, path)
    first = path.read_bytes()
    again = read_mechanism_file(path)
    assert again.tupling is not None
    assert (again.tupling.inner, again.tupling.source) == (INNER, TUPLING.source)
    assert again.tupling.dummies == 7
    assert again.mechanism is again.tupling
    assert again.report_channel == INNER
    assert len(again.guarantees) == 1
    assert again.tuple_guarantees == (TuplePrivacy(1.0, 0.2),)
    assert "Tupling with 7 dummies" in repr(again)
    sf.save(again, path)
    assert path.read_bytes() == first
    assert isinstance(sf.load(path), Tupling)
    one, other = (sf.simulator(each, 5).draw([0, 1, 2] * 9) for each in (TUPLING, sf.load(path)))
    assert np.array_equal(one, other)


def test_what_a_file_states_of_one_report_is_proved_where_tuples_are_drawn(path: Path) -> None:
    same = sf.hamming(SPACE)
    table = pyarrow.table({"secret": ["a", "b", "c"]})
    for epsilon, holds in ((2.0, True), (0.01, False)):
        sf.save(MechanismFile(TUPLING, guarantees=sf.MetricPrivacy(epsilon, same)), path)
        tupling = sf.load(path)
        assert list(map(str, tupling.stated_guarantees)) == [str(sf.MetricPrivacy(epsilon, same))]
        assert isinstance(prove(tupling)[0], Proved) == holds
        if holds:
            assert len(sf.release(tupling, table, column="secret")) == 3
        else:
            with pytest.raises(InputError, match="nothing was drawn"):
                sf.release(tupling, table, column="secret")


def test_one_is_not_taken_for_the_other(path: Path) -> None:
    sf.save(TUPLING, path)
    with pytest.raises(InputError, match="whose reports are tuples"):
        read_mechanism_file(path).alone()
    sf.save(INNER, path)
    assert sf.load(path) == INNER
    assert read_mechanism_file(path).tupling is None
    assert read_mechanism_file(path).alone().mechanism == INNER


def test_a_promise_of_tuples_needs_dummies() -> None:
    with pytest.raises(InputError, match="sends no dummies"):
        MechanismFile(INNER, guarantees=[TuplePrivacy(1.0, 0.2)])
    for epsilon, delta in ((-1.0, 0.1), (1.0, 1.5), (float("nan"), 0.1), (1e9, 0.1)):
        with pytest.raises(InputError, match=r"epsilon is (-1|nan|1000000000)|delta 1\.5 is not"):
            TuplePrivacy(epsilon, delta)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dummies": -1}, "number of dummies"),
        ({"dummies": 10**12}, "number of dummies"),
        ({"dummies": 1.5}, "not an integer"),
        ({"source": None}, "not an object"),
        ({"source": "mechanism"}, "dummies are drawn from a"),
    ],
)
def test_recipes_that_are_not_sound_are_refused(path: Path, change: dict[str, object], words: str) -> None:
    sf.save(TUPLING, path)
    manifest, members = opened(path)
    for key, value in change.items():
        manifest["tupling"][key] = manifest["mechanism"] if value == "mechanism" else value
    forged(path, manifest, members)
    with pytest.raises(FileError, match=words):
        read_mechanism_file(path)


def test_dummies_that_give_the_secret_away_are_refused(path: Path) -> None:
    """A forger takes all dummies from one observable, and the others are then true for certain."""
    sf.save(Tupling(INNER, 7, [0.25, 0.25, 0.5]), path)
    bare = sf.Mechanism([[1.0, 0.0, 0.0]], sf.Space(("dummy",)), SPACE)
    other = path.with_name("other.sfm")
    sf.save(bare, other)
    manifest, members = opened(path)
    source = opened(other)
    name = manifest["tupling"]["source"]["weights"]
    members[name] = source[1][source[0]["mechanism"]["weights"]]
    forged(path, manifest, members)
    with pytest.raises(FileError, match="reported but never drawn as dummies"):
        read_mechanism_file(path)


def test_what_a_file_promises_is_proved_from_its_integers() -> None:
    true, false = TuplePrivacy(1.0, 0.2), TuplePrivacy(0.1, 1e-6)
    assert true.prove(TUPLING).holds
    assert true.prove(TUPLING).sentence.startswith("Proved: epsilon 1 with delta 0.2")
    refuted = false.prove(TUPLING)
    assert not refuted.holds
    assert refuted.sentence.startswith("False: ")
    assert json.dumps(refuted.worst.bounds.upper)
    with pytest.raises(InputError, match="only one secret"):
        true.prove(Tupling(sf.Mechanism([[1.0]]), 2, [1.0]))
