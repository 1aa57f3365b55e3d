"""Mechanism files in comparisons: noise and matrices for points, matrices and tuples on cells."""

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks import optimal
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import Tupling, uniform_dummies
from sfumato_papers.invented_city import invented_city

VISITS = invented_city(users=6, days=3)
GRID = sf.Grid.covering(VISITS, shape=(3, 2))
PRIOR = sf.Prior.from_visits(GRID, VISITS)
KM = GRID.metric("euclidean", unit="km")


def on_cells(mechanism) -> sf.MechanismFile:
    return sf.MechanismFile(mechanism, PRIOR, KM)


def test_a_matrix_on_cells_has_the_row_of_its_own_guarantee():
    mechanism = sf.mechanisms.exponential(GRID, KM, 0.4)
    found = sf.comparison.compare(
        PRIOR, KM, epsilon=["0.7/km", "2/km"], families=[], remap=False, files={"mine.sfm": on_cells(mechanism)}
    )
    rows = [found.row("mine.sfm", value) for value in found.values]
    assert rows[0].epsilon_upper == rows[1].epsilon_upper <= 0.4 * (1 + 1e-9)
    assert rows[0].loss == pytest.approx(mechanism.expected_loss(PRIOR, KM), rel=1e-9)
    assert rows[0].attacker_error == pytest.approx(optimal(mechanism, PRIOR, KM).error, rel=1e-9)
    assert all("mine.sfm" in str(table.rows) for table in found.tables("visits"))
    assert "mine.sfm" not in {text.get_text() for text in found.figure().legends[0].get_texts()}
    assert "Mechanism files are in the table only." in found.caption


def test_reports_in_degrees_lose_what_they_lose_on_the_plane():
    mechanism = sf.mechanisms.exponential(GRID, KM, 0.4)
    places = sf.Space([f"place {k}" for k in range(len(GRID))], GRID.latlon, "degree", "EPSG:4326")
    files = {"there.sfm": on_cells(sf.Mechanism(mechanism.matrix, GRID, places))}
    found = sf.comparison.compare(PRIOR, KM, epsilon="1/km", families=[], remap=False, files=files)
    assert found.row("there.sfm").loss == pytest.approx(mechanism.expected_loss(PRIOR, KM), rel=1e-6)


def test_tuples_lose_what_their_best_answer_loses():
    mechanism = sf.mechanisms.exponential(GRID, KM, 0.4)
    files = {
        "one.sfm": on_cells(mechanism),
        "tuple.sfm": on_cells(Tupling(mechanism, 3, uniform_dummies(mechanism))),
    }
    found = sf.comparison.compare(PRIOR, KM, epsilon="1/km", families=[], remap=False, files=files)
    one, tupled = found.row("one.sfm"), found.row("tuple.sfm")
    assert tupled.loss < one.loss
    assert tupled.epsilon_upper == one.epsilon_upper
    assert tupled.spread is not None


def test_files_of_other_secrets_are_refused_in_one_line():
    other = sf.Grid.covering(VISITS, shape=(2, 2))
    file = sf.MechanismFile(sf.mechanisms.exponential(other, other.metric("euclidean", unit="km"), 1.0))
    with pytest.raises(InputError, match=r"^x\.sfm is for .* but the prior is on ") as caught:
        sf.comparison.compare(PRIOR, KM, epsilon="1/km", files={"x.sfm": file})
    assert "\n" not in caught.value.text


def files_of_points() -> dict[str, Any]:
    lattice = sf.Lattice.covering(VISITS, "2 km")
    options: dict[str, Any] = {"loss": lattice.loss(VISITS), "guarantees": sf.CoordinatePrivacy("0.8/km")}
    prior = sf.Prior.from_visits(lattice, VISITS)
    return {
        "table.sfm": sf.MechanismFile.of_design(sf.design(prior, method="table", **options)),
        "noise.sfm": sf.MechanismFile.of_design(sf.design(prior, method="noise", **options), visits=VISITS),
        "cells.sfm": on_cells(sf.mechanisms.exponential(GRID, KM, 0.4)),
    }


@pytest.mark.slow
def test_files_for_points_are_measured_on_the_true_points():
    files = files_of_points()
    found = sf.compare_places(VISITS, epsilon="1/km", spacing="2 km", bound_time=0, files=files, time_limit=60)
    table, noise, cells = (found.row(name) for name in files)
    assert table.epsilon_upper == pytest.approx(0.8, rel=1e-6)
    assert noise.epsilon_upper == pytest.approx(0.8, rel=1e-6)
    assert noise.slack_m > 0
    assert math.isinf(cells.epsilon_upper)
    assert cells.metre_factor is not None
    assert cells.metre_factor.lower > 1
    lattice = files["table.sfm"].mechanism.secrets
    rounding, xy = lattice.rounding(VISITS.lat, VISITS.lon), lattice.projection.forward(VISITS.lat, VISITS.lon)
    places = lattice.projection.forward(*files["table.sfm"].mechanism.observables.latlon.T)
    total = 0.0
    for positions, shares, point in zip(rounding.positions, rounding.shares, xy, strict=True):
        reports = shares @ files["table.sfm"].mechanism.matrix[positions]
        total += reports @ np.hypot(*(places - point).T) / 1000
    assert table.loss.value == pytest.approx(total / len(VISITS), rel=3e-3)
    for row in (table, noise, cells):
        assert row.attacker_error is not None
        assert row.attacker_error.lower <= row.loss.upper
        assert math.isinf(found.excess(row))
    assert [row.name for row in found.rows][-3:] == list(files)


def test_files_that_do_not_serve_the_visits_are_refused():
    (name, file), *_ = files_of_points().items()
    elsewhere = invented_city(users=4, days=2, seed=2)
    elsewhere = sf.Visits(elsewhere.lat + 5, elsewhere.lon)
    with pytest.raises(InputError, match=r"table\.sfm does not serve [\d,]+ of the [\d,]+ visits"):
        sf.compare_places(elsewhere, epsilon="1/km", files={name: file})
    labels = sf.MechanismFile(sf.mechanisms.randomised_response(sf.Space("ab"), 1.0))
    with pytest.raises(InputError, match="not for points"):
        sf.compare_places(VISITS, epsilon="1/km", files={"labels.sfm": labels})


@pytest.mark.slow
def test_one_function_compares_on_a_prior_and_for_visits():
    visits = invented_city(users=5, days=2)
    options: dict[str, Any] = {"epsilon": "1/km", "spacing": "3 km", "bound_time": 0}
    direct, front = sf.compare_places(visits, **options), sf.compare(visits, **options)
    assert [row.cells() for row in front.rows] == [row.cells() for row in direct.rows]
    with pytest.raises(InputError, match="is for a prior, but visits were given"):
        sf.compare(visits, KM, epsilon="1/km")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="a prior was given without metric="):
        sf.compare(PRIOR, epsilon="1/km")  # type: ignore[call-overload]
