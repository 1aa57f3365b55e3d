"""Distances that only a file states: no entry point counts in them, unless the caller vouches for them."""

import copy
import pickle
from typing import Any

import duckdb
import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.files import MechanismFile, as_opendp, read_mechanism_file, save
from sfumato.files.many import read_designs
from sfumato.releases import create_duckdb_function, prepare

from ..cli.conftest import runner

GRID = sf.Grid.covering("8 km x 6 km around 48.85,2.35", cell="1600 m")
NAMES = ("euclidean on the ground", "walk", "2 x euclidean", "closure of euclidean", "elastic metric")
REFUSED = "distances that the mechanism file states and nothing confirms"
PLACES = pd.DataFrame({"lat": [48.85, 48.86], "lon": [2.35, 2.36]})


def forged(path, kind="metric", name=NAMES[0]):
    """Write a mechanism that nearly always reports the truth, with distances 10,000 times as long as they are."""
    n = len(GRID)
    mechanism = sf.Mechanism(np.full((n, n), 1e-6) + (1 - n * 1e-6) * np.eye(n), GRID)
    apart = sf.Metric(GRID.metric("euclidean", "km").array * 1e4, "km", name=name)
    promise = sf.MetricPrivacy("0.01/km", apart)
    if kind == "threshold":
        promise = sf.ThresholdPrivacy(0.01, sf.Metric(apart.array, "km", name="near"), "20000 km")
    save(MechanismFile(mechanism, sf.Prior.uniform(GRID), guarantees=promise), path)
    return path


def loaded(path, **options) -> Any:
    return sf.load(path, **options)


@pytest.fixture
def file(tmp_path):
    return forged(tmp_path / "forged.sfm")


@pytest.fixture
def ledger(tmp_path):
    return sf.Ledger.create(tmp_path / "budget.db", "1/km")


def blurred(mechanism, ledger):
    sf.Blur(mechanism, ledger)


def charged_by_the_promise(mechanism, ledger):
    sf.Blur(mechanism, ledger, mechanism.guarantees[0])


def charged_in_another_unit(mechanism, ledger):
    promise = mechanism.guarantees[0]
    sf.Blur(mechanism, ledger, sf.MetricPrivacy(promise.epsilon, promise.metric.to("m").to("km")))


def released(mechanism, _):
    sf.release(mechanism, PLACES)


def released_to_a_file(mechanism, _):
    prepare(mechanism, PLACES, "private.csv")


def asked_in_duckdb(mechanism, _):
    with duckdb.connect() as connection:
        create_duckdb_function(connection, "blur", mechanism)


def measured_by_opendp(mechanism, _):
    dp.enable_features("contrib", "honest-but-curious")
    as_opendp(mechanism, mechanism.guarantees[0].metric)


DOORS = [
    blurred,
    charged_by_the_promise,
    charged_in_another_unit,
    released,
    released_to_a_file,
    asked_in_duckdb,
    measured_by_opendp,
]


@pytest.mark.parametrize("door", DOORS)
def test_no_entry_point_counts_in_them(door, file, ledger):
    with pytest.raises(InputError, match=REFUSED) as refused:
        door(loaded(file), ledger)
    assert "trust_distances=True" in refused.value.hint


@pytest.mark.parametrize("door", DOORS)
def test_the_caller_may_vouch_for_them(door, file, ledger, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    door(loaded(file, trust_distances=True), ledger)


@pytest.mark.parametrize("name", NAMES[1:])
def test_no_name_makes_them_true(name, tmp_path, ledger):
    mechanism = loaded(forged(tmp_path / "forged.sfm", name=name))
    with pytest.raises(InputError, match=REFUSED):
        sf.Blur(mechanism, ledger)


def test_near_secrets_by_such_distances_are_not_believed(tmp_path):
    mechanism = loaded(forged(tmp_path / "forged.sfm", "threshold"))
    with pytest.raises(InputError, match=REFUSED):
        sf.release(mechanism, PLACES)


def test_the_mark_outlives_copies_conversions_and_other_files(file, tmp_path):
    mechanism = loaded(file)
    metric = mechanism.guarantees[0].metric
    save(mechanism, tmp_path / "again.sfm")
    others = [
        metric.to("m"),
        metric.scale(2),
        metric.threshold("20000 km"),
        copy.deepcopy(metric),
        pickle.loads(pickle.dumps(mechanism)).guarantees[0].metric,
        mechanism.then(sf.Mechanism(np.eye(len(GRID)), GRID)).guarantees[0].metric,
        loaded(tmp_path / "again.sfm").guarantees[0].metric,
        *(each.metric for each in read_mechanism_file(file).guarantees if isinstance(each, sf.MetricPrivacy)),
        *(
            guarantee.metric
            for each in read_designs(tmp_path).values()
            if isinstance(each, sf.Mechanism)
            for guarantee in each.guarantees
            if isinstance(guarantee, sf.MetricPrivacy)
        ),
    ]
    assert len(others) == 10
    assert all(each.is_stated for each in others)
    assert not metric.trust().is_stated
    save(loaded(file, trust_distances=True), tmp_path / "vouched.sfm")
    assert loaded(tmp_path / "vouched.sfm").guarantees[0].metric.is_stated


STATED = {
    "labels": sf.Space(["a", "b"], [[0, 0], [1, 0]], unit="km"),
    "texts of numbers": sf.Space(["0", "1"], [0.0, 1.0], unit="km"),
    "truth values": sf.Space([False, True], [0.0, 1.0], unit="km"),
    "numbers beyond floats": sf.Space.numbers([2**60 + 128, 2**60 + 129], unit="ns"),
    "some cells of a grid": sf.geo.ChosenPlaces(GRID, [0, 1]),
}
CONFIRMED = {
    "numbers": sf.Space.numbers([0, 1.5], unit="km"),
    "bins": sf.NumberBins(0, 5, 2, unit="year"),
    "points": sf.Space([(0.0, 0.0), (1.0, 0.5)], [(0.0, 0.0), (1.0, 0.5)], unit="km"),
    "a grid": GRID,
}


@pytest.mark.parametrize("name", [*STATED, *CONFIRMED])
def test_coordinates_confirm_distances_where_rows_are_matched_by_them(name, tmp_path):
    space = {**STATED, **CONFIRMED}[name]
    metric = space.metric("euclidean")
    n = len(space)
    save(sf.Mechanism(np.full((n, n), 1 / n), space).promising(sf.MetricPrivacy(1.0, metric)), tmp_path / "m.sfm")
    promise = loaded(tmp_path / "m.sfm").guarantees[0]
    assert promise.metric.is_stated == (name in STATED)
    assert promise.confirmed_by(space) == (name in CONFIRMED)


def test_the_unit_of_numbers_is_said(tmp_path):
    """The reader of the table alone knows it, and it decides what the promise is."""
    space = sf.Space.numbers([0, 1000], unit="km")
    mechanism = sf.Mechanism([[0.6, 0.4], [0.4, 0.6]], space).promising(
        sf.MetricPrivacy("0.001/km", space.metric("absolute"))
    )
    save(mechanism, tmp_path / "m.sfm")
    table = pd.DataFrame({"away": [0, 1000]})
    said = prepare(loaded(tmp_path / "m.sfm"), table, tmp_path / "o.csv", column="away").promises
    assert "epsilon 0.001/km, absolute, for numbers in km." in said[0]


def test_labels_of_a_grid_do_not_say_where_rows_are(tmp_path):
    n = len(GRID)
    mechanism = sf.Mechanism(np.full((n, n), 1 / n), GRID).promising(
        sf.MetricPrivacy("1/km", GRID.metric("euclidean", "km"))
    )
    table = pd.DataFrame({"cell": [str(GRID.labels[0])]})
    with pytest.raises(InputError, match="do not say where a row is"):
        sf.release(mechanism, table, column="cell")


def test_confirmed_distances_and_those_of_the_caller_are_not_marked(tmp_path, ledger):
    n = len(GRID)
    honest = sf.MetricPrivacy("1/km", GRID.metric("euclidean", "km"))
    mechanism = sf.Mechanism(np.full((n, n), 1 / n), GRID).promising(honest)
    save(mechanism, tmp_path / "honest.sfm")
    sf.Blur(loaded(tmp_path / "honest.sfm"), ledger)
    own = sf.MetricPrivacy("1/km", sf.Metric(honest.metric.array, "km", name="walk"))
    assert sf.Blur(mechanism.promising(own), ledger).sentence.endswith(
        "by distances that are stated and nothing confirms"
    )


def test_a_bound_for_any_two_values_needs_no_distances(tmp_path):
    """Epsilon bounds every pair: the distances are pure numbers of at most 1."""
    space = sf.Space(["yes", "no", "never"])
    apart = sf.Metric([[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]], name="severity")
    mechanism = sf.Mechanism(np.full((3, 3), 1 / 3), space).promising(sf.MetricPrivacy(1, apart))
    save(mechanism, tmp_path / "m.sfm")
    private = sf.release(loaded(tmp_path / "m.sfm"), pd.DataFrame({"answer": ["yes", "no"]}), column="answer")
    assert len(private) == 2


def test_the_command_refuses_and_writes_nothing(file, tmp_path, monkeypatch):
    run = runner(monkeypatch, tmp_path)
    PLACES.to_csv("places.csv", index=False)
    refused = run("release", file, "places.csv", "private.csv")
    assert refused.code == 1
    assert REFUSED in " ".join(refused.err.split())
    assert "--trust-distances" in refused.err
    assert not (tmp_path / "private.csv").exists()
    vouched = run("release", file, "places.csv", "private.csv", "--trust-distances")
    assert vouched.code == 0
    assert "by distances that are stated and nothing confirms" in vouched.text
    assert "Proved from the integers: epsilon 0.01/km" in vouched.text


def test_the_file_that_was_believed_once(shared_data, ledger):
    mechanism = loaded(shared_data.parent / "cases" / "files" / "forged_metric.sfm")
    with pytest.raises(InputError, match=REFUSED):
        sf.Blur(mechanism, ledger)
