"""Kinds of secrets, observables and metrics that a design must take."""

import numpy as np
import pytest

from sfumato.core import (
    DistortionPrivacy,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    ThresholdPrivacy,
    hamming,
    loss,
)
from sfumato.errors import MetricWarning
from sfumato.optimal import Highs, design
from sfumato.proofs import distortion_below

from ..proofs import exact
from ..reference import Request, solved

X = np.array([0.0, 0.6, 1.1, 1.9, 5.0])
PLACES = Space("abcde", X, "km")
WALK = PLACES.metric("euclidean")
PRIOR = Prior(PLACES, [0.3, 0.3, 0.0, 0.15, 0.25])


def test_threshold_privacy_is_the_program_of_near_pairs():
    # Privacy Games, (23): rows only for pairs within the threshold, all of them at the same epsilon.
    near = ThresholdPrivacy(1.1, WALK, "1 km")
    steps = np.where(WALK.array <= 1.0, 1.0, np.inf)
    np.fill_diagonal(steps, 0.0)
    best = solved(Request(PRIOR.probabilities, hamming(PLACES).array, 1.1, (steps,)))
    assert best is not None
    result = design(PRIOR, loss=hamming(PLACES), guarantees=[near])
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6)
    assert exact.private(result.mechanism, steps, 1.1)
    # No hop leads to the last place, so it may be told from the others.
    assert result.mechanism.matrix[4, 4] == pytest.approx(1.0, abs=1e-6)


def test_observables_may_be_groups_of_secrets():
    cells = PLACES.group_labels([["a", "b"], ["c", "d", "e"], "abcde"])
    member = loss(PLACES, cells, "member").array + np.array([0.0, 0.0, 0.3])
    private = MetricPrivacy(2.0, WALK)
    result = design(PRIOR, loss=member, guarantees=[private], observables=cells)
    assert result.mechanism.observables == cells
    best = solved(Request(PRIOR.probabilities, member, 2.0, (WALK.array,)))
    assert best is not None
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6)
    assert exact.private(result.mechanism, WALK.array, 2.0)


def test_secrets_at_distance_zero_get_the_same_row():
    kinds = PLACES.metric("semantic", categories=[0, 0, 1, 1, 2])
    result = design(PRIOR, loss=hamming(PLACES), guarantees=[MetricPrivacy(1.0, kinds)])
    weights = result.mechanism.weights
    assert (weights[0] == weights[1]).all()
    assert (weights[2] == weights[3]).all()
    assert result.certificate.epsilon_upper <= 1.0
    best = solved(Request(PRIOR.probabilities, hamming(PLACES).array, 1.0, (kinds.array,)))
    assert best is not None
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6)


def test_secrets_at_infinite_distance_may_be_told_apart():
    d = WALK.array.copy()
    d[:2, 2:] = d[2:, :2] = np.inf
    result = design(PRIOR, loss=hamming(PLACES), guarantees=[MetricPrivacy(1.0, Metric(d, "km"))])
    apart = result.mechanism.matrix
    assert apart[:2, 2:].sum() < 1e-6
    assert exact.private(result.mechanism, d, 1.0)
    everywhere = Metric(np.where(np.eye(5) == 1, 0.0, np.inf))
    truth = design(PRIOR, loss=hamming(PLACES), guarantees=[MetricPrivacy(1.0, everywhere)])
    assert truth.certificate.loss == pytest.approx(0, abs=1e-9)


def test_a_metric_that_breaks_the_triangle_is_kept_pair_by_pair():
    d = WALK.array.copy()
    d[0, 3] = d[3, 0] = 9.0
    with pytest.warns(MetricWarning):
        broken = Metric(d, "km")
    result = design(PRIOR, loss=hamming(PLACES), guarantees=[MetricPrivacy(1.0, broken)])
    assert exact.private(result.mechanism, broken.closure().array, 1.0)
    best = solved(Request(PRIOR.probabilities, hamming(PLACES).array, 1.0, (d,)))
    assert best is not None
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6)


def test_several_metrics_at_once():
    kinds = PLACES.metric("semantic", categories=[0, 1, 0, 1, 1])
    both = [MetricPrivacy("0.9/km", WALK), MetricPrivacy(1.3, kinds)]
    result = design(PRIOR, loss=hamming(PLACES), guarantees=both)
    assert [proof.holds for proof in result.certificate.metric_privacy] == [True, True]
    exponents = np.minimum(0.9 * WALK.array, 1.3 * kinds.array)
    best = solved(Request(PRIOR.probabilities, hamming(PLACES).array, 1.0, (exponents,)))
    assert best is not None
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6)


def test_the_tie_break_takes_the_more_private_optimum():
    xy = np.array([(x, y) for x in range(4) for y in range(3)], dtype=float)
    grid = Space(range(12), xy, "km")
    metric = grid.metric("euclidean")
    prior = Prior(grid, np.random.default_rng(5).dirichlet(np.full(12, 0.3)))
    found = {
        tie_break: design(
            prior,
            loss=hamming(grid),
            guarantees=[MetricPrivacy("0.3/km", metric)],
            solver=Highs(),
            tie_break=tie_break,
        )
        for tie_break in (True, False)
    }
    assert found[True].tie_gap is not None
    assert found[False].tie_gap is None
    assert found[True].certificate.loss == pytest.approx(found[False].certificate.loss, rel=3e-6)
    errors = {key: distortion_below(result.mechanism, prior, metric) for key, result in found.items()}
    assert errors[True] >= errors[False] * (1 - 1e-4)


def test_the_adversary_may_guess_what_is_no_secret():
    guesses = loss(Space("xy", [0.5, 3.0], "km"), PLACES).array
    most = float((guesses @ PRIOR.probabilities).min())
    result = design(PRIOR, loss=hamming(PLACES), guarantees=[DistortionPrivacy(0.6 * most, guesses)])
    assert exact.distortion(result.mechanism, PRIOR, guesses) >= 0.6 * most
    best = solved(Request(PRIOR.probabilities, hamming(PLACES).array, distance=guesses, minimum=0.6 * most))
    assert best is not None
    assert result.certificate.value == pytest.approx(best.value, rel=1e-6, abs=1e-9)


def test_a_design_keeps_what_was_asked():
    private = MetricPrivacy("1/km", WALK)
    result = design(PRIOR, loss=WALK, guarantees=[private], objective="worst-case")
    assert result.problem.guarantees == (private,)
    assert result.problem.objective == result.certificate.objective == "worst-case"
    assert result.mechanism.secrets == PLACES
    assert result.seconds > 0
    assert result.certificate.value == result.certificate.worst_case_loss
    assert "epsilon 1/km" in repr(result)
    assert "worst-case loss" in repr(result)


@pytest.mark.parametrize("objective", ["expected", "worst-case"])
@pytest.mark.parametrize(("epsilon", "length"), [(1e308, 1.0), (1e308, 1e300), (1e10, 1e300), (5e-324, 1e300)])
def test_epsilons_and_distances_of_any_size(epsilon, length, objective):
    space = Space("abc")
    line = Metric(length * np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
    prior = Prior(space, [0.5, 0.3, 0.2])
    costs = hamming(space)
    result = design(prior, loss=costs, guarantees=[MetricPrivacy(epsilon, line)], objective=objective)
    found = result.certificate
    assert found.holds
    assert found.bound <= found.value <= found.bound + 1e-6
    # Where the product is beyond floats the truth may be reported; where it vanishes nothing may be told.
    alone = 0.5 if objective == "expected" else 2 / 3
    assert found.value == pytest.approx(0.0 if epsilon > 1 else alone, abs=1e-6)
