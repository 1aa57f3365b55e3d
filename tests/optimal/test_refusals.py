"""Requests that cannot be designed for, and the errors that say so."""

import sys

import numpy as np
import pytest

from sfumato.core import (
    DistortionPrivacy,
    Loss,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    ThresholdPrivacy,
    hamming,
)
from sfumato.errors import InfeasibleError, InputError, MissingExtraError, SolverError, UnitError
from sfumato.optimal import Highs, design, maximise_distortion

KM = Space("abcd", [[0.0], [1.0], [2.0], [3.0]], "km")
EVEN = Prior.uniform(KM)
WALK = KM.metric("euclidean")
PRIVATE = MetricPrivacy(1, WALK)
SMALL = Prior.uniform(Space("ab"))


def least(loss=WALK, guarantees=(PRIVATE,), **options):
    return design(EVEN, loss=loss, guarantees=guarantees, **options)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: least(guarantees=[]), "there is no guarantee"),
        (lambda: least(guarantees=[0.6]), "an item of guarantees= is of type float"),
        (lambda: least(objective="median"), "'median' is unknown"),
        (lambda: least(loss=np.eye(3)), "for 3 secrets and 3 observables, but there are 4 and 4"),
        (lambda: least(loss=-np.eye(4), objective="worst-case"), "losses of at least 0"),
        (lambda: least(loss=np.full((4, 4), np.nan)), "nan"),
        (lambda: least(loss=np.full((4, 4), np.inf)), "inf"),
        (lambda: least(loss=np.eye(4)[0]), "shape 4"),
        (lambda: design(Prior(KM, [0.35] * 4), loss=WALK, guarantees=[PRIVATE]), "1.4"),
        (lambda: design(Prior(KM, [-0.2, 0.6, 0.3, 0.3]), loss=WALK, guarantees=[PRIVATE]), "-0.2"),
        (lambda: least(guarantees=[MetricPrivacy(1, Metric(-WALK.array))]), "-1"),
        (lambda: least(guarantees=[MetricPrivacy(1, Metric(WALK.array + np.nan))]), "nan"),
        (lambda: least(guarantees=[DistortionPrivacy(0.1, np.ones(4))]), "shape 4"),
        (lambda: least(observables=Space("xy")), "but there are 4 and 2"),
        (
            lambda: least(guarantees=[MetricPrivacy(1, SMALL.space.metric("hamming"))]),
            "for 2 secrets, but there are 4",
        ),
        (
            lambda: least(guarantees=[DistortionPrivacy(0.1, np.ones((4, 3)))]),
            "3 columns, but there are 4 secrets",
        ),
        (lambda: least(guarantees=[DistortionPrivacy(0.1, -np.ones((4, 4)))]), "negative"),
        (lambda: least(guarantees=[MetricPrivacy(0, WALK)]), "positive"),
        (lambda: least(guarantees=[MetricPrivacy("-1/km", WALK)]), "positive"),
        (lambda: least(pairs="some"), "pairs='some'"),
        (lambda: least(dilation=1.0), "dilation of 1.0"),
        (lambda: least(gap=0), "gap=0 is not"),
        (lambda: least(gap=np.nan), "gap='nan' is not"),
        (lambda: least(time_limit=0), "time limit of 0"),
        (lambda: least(time_limit=np.nan), "time limit of nan"),
        (lambda: maximise_distortion(EVEN, loss=Loss(np.eye(4)), max_loss=1), "distance is missing"),
        (
            lambda: maximise_distortion(EVEN, loss=WALK, max_loss=1, guarantees=[DistortionPrivacy(0.1, WALK)]),
            "maximises distortion privacy itself",
        ),
        (lambda: maximise_distortion(EVEN, loss=WALK, distance=np.eye(3), max_loss=1), "3 columns"),
    ],
)
def test_bad_requests(make, says):
    with pytest.raises(InputError) as error:
        make()
    assert says in error.value.problem
    assert error.value.hint


@pytest.mark.parametrize("limit", ["1 h", "500 m/s", "lots", np.inf])
def test_a_budget_in_another_unit(limit):
    with pytest.raises(UnitError, match="the largest loss"):
        maximise_distortion(EVEN, loss=WALK, max_loss=limit)


@pytest.mark.parametrize("minimum", ["1 km", "1001 m", 7.0, 1 - 1e-9])
def test_more_distortion_than_the_blind_adversary_allows_names_the_maximum(minimum):
    with pytest.raises(InfeasibleError, match=r"the best guess is off by at most 1 km") as error:
        least(guarantees=[DistortionPrivacy(minimum, WALK)])
    assert error.value.hint == "require less than 999 m."


def test_less_loss_than_the_truth_costs_names_the_least():
    loss = 2 + hamming(KM).array
    for limit in (1.5, 2.0, -1):
        with pytest.raises(InfeasibleError, match="already loses 2") as error:
            maximise_distortion(EVEN, loss=loss, distance=WALK, max_loss=limit)
        assert error.value.hint == "allow more than 2."
    with pytest.raises(InfeasibleError, match="already loses 0"):
        maximise_distortion(EVEN, loss=hamming(KM), distance=WALK, max_loss=0)


def test_a_tiny_limit_of_the_loss_is_shown_in_all_digits():
    loss = Loss(WALK.array + 1, "m")
    with pytest.raises(InfeasibleError, match=r"at most 0\.0001 m is out of reach"):
        maximise_distortion(EVEN, loss=loss, distance=WALK, max_loss="0.0001 m")


def test_less_loss_than_epsilon_allows_names_the_least():
    possible = design(EVEN, loss=hamming(KM), guarantees=[PRIVATE]).certificate.loss
    with pytest.raises(InfeasibleError, match=f"the least possible with them is {possible:.3f}"):
        maximise_distortion(EVEN, loss=hamming(KM), distance=WALK, max_loss=possible / 2, guarantees=[PRIVATE])


def test_an_infeasible_program_is_no_empty_array():
    # A budget a hair above the least loss of the program leaves no room for rounding.
    possible = design(EVEN, loss=hamming(KM), guarantees=[PRIVATE]).certificate.bound
    with pytest.raises((InfeasibleError, SolverError)):
        maximise_distortion(EVEN, loss=hamming(KM), distance=WALK, max_loss=possible, guarantees=[PRIVATE])


def test_unknown_methods_of_the_back_end():
    with pytest.raises(SolverError, match="no method 'hipo'"):
        least(solver=Highs("hipo"))


def test_clarabel_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"the solver Clarabel needs .*\n.*--extra solvers;"):
        least(solver="clarabel")


@pytest.mark.parametrize(
    ("loss", "guarantees", "value"),
    [
        (hamming(KM), [DistortionPrivacy(0, WALK)], 0.0),
        (np.zeros((4, 4)), [PRIVATE], 0.0),
        (WALK.scale(1e9), [PRIVATE], None),
        (WALK.scale(1e-9), [PRIVATE], None),
        (hamming(KM), [DistortionPrivacy(5e-10, WALK.scale(1e-9, ""))], 1 / 6),
        (hamming(KM), [DistortionPrivacy(5e8, WALK.scale(1e9, ""))], 1 / 6),
        (hamming(KM), [MetricPrivacy(1e-12, WALK)], 0.75),
        (hamming(KM), [MetricPrivacy(1000, WALK)], 0.0),
        (-np.eye(4), [PRIVATE], None),
    ],
)
def test_extremes_are_designed_all_the_same(loss, guarantees, value):
    result = design(EVEN, loss=loss, guarantees=guarantees, solver=Highs())
    assert result.certificate.holds
    assert result.status.name == "OPTIMAL"
    assert result.certificate.gap <= 2e-6 or result.certificate.absolute_gap <= 1e-15
    if value is not None:
        assert result.certificate.value == pytest.approx(value, abs=1e-6)


def test_a_certain_secret_costs_nothing():
    certain = Prior(KM, [0, 0, 1, 0])
    result = design(certain, loss=WALK, guarantees=[PRIVATE])
    assert result.certificate.loss == pytest.approx(0, abs=1e-9)
    assert result.certificate.absolute_gap <= 1e-15
    assert result.certificate.holds


def test_one_secret():
    alone = Prior(Space("a"), [1.0])
    result = design(alone, loss=hamming(alone.space), guarantees=[MetricPrivacy(1, hamming(alone.space))])
    assert result.mechanism.matrix.tolist() == [[1.0]]
    assert result.status.name == "OPTIMAL"


def test_threshold_privacy_among_the_guarantees():
    with pytest.raises(InputError, match="no two distinct values are within 10 m"):
        least(guarantees=[ThresholdPrivacy(1, WALK, "10 m")])
