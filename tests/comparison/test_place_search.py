"""The search for the epsilon of a loss, over families whose loss has a formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.comparison.place_results import PlaceRow
from sfumato.comparison.places import Candidate, match_loss
from sfumato.core import Bracket
from sfumato.errors import InputError, SolverError


def family(loss, tried):
    def make(epsilon):
        tried.append(epsilon)
        lost = Bracket.exact(loss(epsilon))
        row = PlaceRow("a family", epsilon, epsilon, 0.0, lost, None, Bracket.exact(1.0), "")
        return Candidate(row, lambda: lost)

    return make


@given(st.floats(0.05, 20), st.floats(0.3, 2.5), st.floats(0.1, 10))
def test_a_power_of_epsilon_is_met_within_one_per_cent(factor, power, limit):
    tried: list[float] = []
    exact = (factor / limit) ** (1 / power)
    found, _ = match_loss(family(lambda e: factor * e**-power, tried), "a family", limit, 2 * exact)
    assert 0.99 * limit <= found.loss.upper <= limit
    assert found.epsilon >= exact * (1 - 1e-9)
    assert found.attacker_error is not None
    assert len(tried) <= 5


def test_a_curve_that_flattens_is_met_and_its_slope_told():
    tried: list[float] = []
    found, slope = match_loss(family(lambda e: 1.6 / (1 + 0.6 * e**1.5), tried), "a family", 1.0, 4.0)
    assert 0.99 <= found.loss.upper <= 1.0
    assert -1.5 < slope < -0.15


def test_a_step_is_met_from_below():
    found, _ = match_loss(family(lambda e: 1.2 if e < 1.5 else 0.8, []), "a family", 1.0, 1.0)
    assert found.loss.upper == 0.8


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (SolverError("no answer.", "wait."), "not reached in the time"),
        (InputError("too large.", "less."), "too large."),
    ],
)
def test_what_fails_says_why(error, problem):
    def fails(epsilon):
        raise error

    found, _ = match_loss(fails, "a family", 1.0, 1.0)
    assert (found.problem, found.loss.upper) == (problem, math.inf)


def test_the_best_so_far_is_kept_when_the_time_is_over():
    calls: list[float] = []

    def make(epsilon):
        if len(calls) == 1:
            raise SolverError("no answer.", "wait.")
        return family(lambda e: 2 / e, calls)(epsilon)

    assert match_loss(make, "a family", 1.0, 4.0)[0].epsilon == pytest.approx(4.0)


def test_a_loss_that_is_never_met_is_named():
    found, _ = match_loss(family(lambda e: 3.0, []), "a family", 1.0, 1.0)
    assert "no epsilon that was tried" in found.problem
