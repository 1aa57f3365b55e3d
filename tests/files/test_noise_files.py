"""Files of noise for coordinates: written, read back, and forged."""

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, load, read_mechanism_file, save
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.reports import summarise_noise
from sfumato.reports.sentences import table_words

from .forging import Forger, forged, opened

PLANE = Projection(48.86, 2.34)
RAW = CoordinateNoise("1/km", "2 m", PLANE, "30 km")
X = np.random.default_rng(1).normal(size=(12, 2)) * 800
NOISE = CoordinateNoise("1/km", "2 m", PLANE, "30 km").for_places(X, np.ones(12), fineness=0.5)
CELLS = sf.Grid.covering("4 km x 4 km around 48.86,2.34", cell="1 km")
FULL = MechanismFile(NOISE, sf.Prior.uniform(CELLS), claims={"loss": 1.5}, source="12 visits of nobody")


@pytest.mark.parametrize("content", [RAW, NOISE, FULL, MechanismFile(RAW, sf.Prior.uniform(CELLS))])
def test_what_is_written_is_read_back_in_the_same_bytes(content, tmp_path):
    save(content, tmp_path / "a.sfm")
    again = read_mechanism_file(tmp_path / "a.sfm")
    assert not again.has_matrix
    save(again, tmp_path / "b.sfm")
    assert (tmp_path / "a.sfm").read_bytes() == (tmp_path / "b.sfm").read_bytes()
    noise = content if isinstance(content, CoordinateNoise) else content.mechanism
    found = load(tmp_path / "a.sfm")
    assert isinstance(found, CoordinateNoise)
    assert repr(found) == repr(noise)
    np.testing.assert_array_equal(found.simulate(X, seed=3), noise.simulate(X, seed=3))
    assert again.noise_proof.holds
    if isinstance(content, MechanismFile):
        assert (again.source, again.claims) == (content.source, content.claims)
        assert (again.prior is None) == (content.prior is None)


@pytest.mark.parametrize("epsilon", [1e-3, 1 / 3, 0.7, 123.456])
@pytest.mark.parametrize("step", ["2 m", "1 ft", 0.1])
def test_the_noise_is_the_same_to_the_last_bit(epsilon, step, tmp_path):
    noise = CoordinateNoise(epsilon, step, Projection(-33.123456789, 179.99), "123.4 km")
    save(noise, tmp_path / "a.sfm")
    found = load(tmp_path / "a.sfm")
    assert isinstance(found, CoordinateNoise)
    assert (found.noise, found.step_m, found.projection) == (noise.noise, noise.step_m, noise.projection)
    assert (found.epsilon, found.reach_m) == (noise.epsilon, noise.reach_m)


def test_commands_for_matrices_say_what_to_do(tmp_path):
    save(NOISE, tmp_path / "a.sfm")
    with pytest.raises(InputError, match="has no matrix") as caught:
        read_mechanism_file(tmp_path / "a.sfm").report_channel  # noqa: B018
    assert "design" in str(caught.value)


def test_what_a_file_cannot_hold():
    with pytest.raises(InputError, match="for points of a plane"):
        MechanismFile(CoordinateNoise("1/km"))
    with pytest.raises(InputError, match="not cells on the ground"):
        MechanismFile(RAW, sf.Prior.uniform(sf.Space("ab")))
    far = sf.Grid.covering("4 km x 4 km around 50,2.34", cell="1 km")
    with pytest.raises(InputError, match="farther than 30 km"):
        MechanismFile(RAW, sf.Prior.uniform(far))
    with pytest.raises(InputError, match="at most 300"):
        MechanismFile(RAW, source="x" * 301)
    with pytest.raises(InputError, match="JSON"):
        MechanismFile(RAW, claims={"a": math.nan})


def test_noise_has_its_own_promise_and_nothing_of_a_matrix():
    held = MechanismFile(RAW)
    assert MechanismFile(RAW, guarantees=held.guarantees).guarantees[0].slack_m == RAW.promise.slack_m
    with pytest.raises(InputError, match="whose guarantee follows from its recipe"):
        MechanismFile(RAW, guarantees=sf.CoordinatePrivacy("1/km"))
    matrix: dict[str, Any] = {"loss": np.eye(2), "constraints": sf.optimal.LinearConstraint(np.ones((2, 2)), 4.0)}
    for name, value in matrix.items():
        with pytest.raises(InputError, match=f"{name}= was given with a CoordinateNoise"):
            MechanismFile(RAW, **{name: value})
    coin = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    with pytest.raises(InputError, match="no table of places"):
        MechanismFile(coin, source="12 visits")
    with pytest.raises(InputError, match="not noise for coordinates"):
        MechanismFile(coin).noise_proof  # noqa: B018
    wrong: Any = coin.matrix
    with pytest.raises(InputError, match="is of type ndarray, but a mechanism is needed"):
        MechanismFile(wrong)


def test_whose_places_the_table_was_made_of_is_said():
    assert "Table" not in {each.title for each in summarise_noise(MechanismFile(RAW)).sections}
    said = table_words(FULL.source)
    assert "made of '12 visits of nobody'; anyone who sees reports or the file can see where" in said
    assert "made of places that the file does not name" in table_words(MechanismFile(NOISE).source)
    assert "\x1b" not in table_words("\x1b[31mred")


def noise(**entries):
    return lambda f: f.manifest["noise"].update(entries)


def table(key, by):
    return lambda f: f.change(f.manifest["noise"]["table"], key, by)


LIES = {
    "a smaller epsilon": (noise(epsilon_per_km=0.5), "rate of its noise"),
    "a larger epsilon": (noise(epsilon_per_km=2.0), "rate of its noise"),
    "epsilon of another kind": (noise(epsilon_per_km="1"), "not a number"),
    "epsilon below 0": (noise(epsilon_per_km=-1.0), "positive"),
    "no epsilon": (lambda f: f.manifest["noise"].pop("epsilon_per_km"), "no entry"),
    "epsilon beyond floats": (noise(epsilon_per_km=1e308, step_m=[2**20, 1]), "cannot be used"),
    "epsilon too small to draw": (noise(epsilon_per_km=1e-300), "scale"),
    "a larger rate": (noise(rate=[1, 400]), "rate of its noise"),
    "a rate of 0": (noise(rate=[0, 1]), "not a fraction"),
    "a rate over 0": (noise(rate=[1, 0]), "not a fraction"),
    "a rate of floats": (noise(rate=[0.002, 1]), "not a fraction"),
    "a rate of true": (noise(rate=[True, 500]), "not a fraction"),
    "an endless rate": (noise(rate=[1, 2**600]), "not a fraction"),
    "another step": (noise(step_m=[200, 1]), "rate of its noise"),
    "a step below 0": (noise(step_m=[-2, 1]), "not a fraction"),
    "a farther reach": (noise(reach_m=1.4e6), "rate of its noise"),
    "an endless reach": (noise(reach_m=1e300), "reach"),
    "no reach": (noise(reach_m=None), "not a number"),
    "no plane": (noise(crs=None), "not a text"),
    "another plane": (noise(crs="EPSG:3857"), "not a local projection"),
    "a plane that is nowhere": (
        noise(crs="+proj=aeqd +lat_0=99 +lon_0=2 +datum=WGS84 +units=m +no_defs"),
        "centre",
    ),
    "a table of nan": (table("targets", lambda a: a * np.nan), "holds nan"),
    "a table at the antipode": (table("targets", lambda a: a + 2e7), "farther than the reach"),
    "a table with a place less": (table("targets", lambda a: a[:-1]), "places for"),
    "a table of integers": (table("targets", lambda a: a.astype(np.int64)), "are needed"),
    "windows that cut": (
        table("frames", lambda a: a + np.array([1, 0, 0, 0, 0]) * np.eye(3, 1, dtype=int)),
        "cuts",
    ),
    "windows beyond counting": (table("frames", lambda a: a + np.array([2**60, 0, 0, 0, 0])), "too large"),
    "windows of the largest number": (table("frames", lambda a: a * 0 + np.int64(2**63 - 1)), "too large"),
    "cells below 0": (table("frames", lambda a: -a), "too large|has no cell"),
    "no windows": (table("frames", lambda a: a[:0]), "few rows"),
    "a member that is not there": (lambda f: f.manifest["noise"]["table"].update(targets="b.npy"), "not there"),
    "a list for noise": (lambda f: f.manifest.update(noise=[1]), "not an object"),
    "a source that is a number": (lambda f: f.manifest.update(source=7), "not a text"),
    "an endless source": (lambda f: f.manifest.update(source="x" * 10_000), "characters"),
    "a prior of other sums": (
        lambda f: f.change(f.manifest["prior"], "probabilities", lambda a: a * 2),
        "sum|add up",
    ),
    "a prior below 0": (lambda f: f.change(f.manifest["prior"], "probabilities", lambda a: -a), "negative|sum"),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_refused(lie, tmp_path):
    change, says = LIES[lie]
    save(FULL, tmp_path / "a.sfm")
    forger = Forger(*opened(tmp_path / "a.sfm"))
    change(forger)
    forged(tmp_path / "b.sfm", forger.manifest, forger.members)
    with pytest.raises(FileError, match=says):
        read_mechanism_file(tmp_path / "b.sfm")


def test_another_table_is_another_mechanism_with_the_same_promise(tmp_path):
    """A table may be exchanged: it looks at the report alone, so the promise holds all the same."""
    save(FULL, tmp_path / "a.sfm")
    forger = Forger(*opened(tmp_path / "a.sfm"))
    table("targets", lambda a: a + 5.0)(forger)
    forged(tmp_path / "b.sfm", forger.manifest, forger.members)
    again = read_mechanism_file(tmp_path / "b.sfm")
    assert not again.has_matrix
    assert again.noise_proof.holds
