"""Designs for several priors: a linear program with all rows, hand cases, the witness, and what is refused."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InputError, SolverError
from sfumato.optimal import RobustDesign, Status, design_robust
from sfumato.optimal.extensions.mixtures import best_mixture
from sfumato.optimal.session import SolveSession

from ..clock import set_clock
from ..proofs import exact


def line(n, step=1.0):
    places = step * np.arange(n)
    return sf.Space(range(n)), sf.Metric(np.abs(places[:, None] - places), "km", triangle=True)


def by_highs(masses, loss, exponents):
    """The least largest expected loss with every row written out, by the simplex method; one loss, or one each."""
    (k, n), m = masses.shape, loss.shape[-1]
    pairs = [(s, t) for s in range(n) for t in range(n) if s != t and np.isfinite(exponents[s, t])]
    ratio = np.zeros((len(pairs), n))
    for row, (s, t) in enumerate(pairs):
        ratio[row, s], ratio[row, t] = math.exp(-exponents[s, t]), -1.0
    private = sparse.hstack([sparse.kron(ratio, sparse.eye(m)), sparse.csr_array((len(pairs) * m, 1))])
    losses = np.hstack([(masses[:, :, None] * loss).reshape(k, -1), -np.ones((k, 1))])
    found = linprog(
        np.append(np.zeros(n * m), 1.0),
        A_ub=sparse.vstack([private, losses]).tocsr(),
        b_ub=np.zeros(len(pairs) * m + k),
        A_eq=sparse.hstack([sparse.kron(sparse.eye(n), np.ones((1, m))), sparse.csr_array((n, 1))]).tocsr(),
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(found.fun)


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 7)), int(rng.integers(2, 6)), int(rng.integers(1, 5))
    space, metric = line(n, float(rng.uniform(0.3, 2.0)))
    masses = rng.dirichlet(np.full(n, 0.5), k)
    masses[:, -1] = 0.0  # a secret that never occurs
    masses /= masses.sum(axis=1, keepdims=True)
    priors = [sf.Prior(space, mass) for mass in masses]
    return priors, rng.random((n, m)) * 3, sf.MetricPrivacy(float(rng.uniform(0.5, 4.0)), metric)


def solved(priors, loss, promise, costs=None, **options):
    reports = sf.Space([f"report {o}" for o in range(loss.shape[1])])
    return design_robust(priors, loss=costs or loss, guarantees=promise, observables=reports, **options)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_linear_program_with_all_rows_finds_the_same(seed):
    priors, loss, promise = random_case(seed)
    found = solved(priors, loss, promise)
    masses = np.array([prior.probabilities for prior in priors])
    reference = by_highs(masses, loss, promise.epsilon * promise.metric.array)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= reference + 1e-8
    assert found.value >= reference - 1e-8
    assert found.value == pytest.approx(reference, rel=3e-6)
    assert exact.private(found.mechanism, promise.metric.array, promise.epsilon)
    assert found.metric_privacy[0].holds
    for prior, most in zip(priors, found.losses, strict=True):
        assert exact.expected(found.mechanism, prior, loss) <= Fraction(most) <= Fraction(found.value)


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_with_a_loss_for_each_prior_a_linear_program_finds_the_same(seed):
    priors, loss, promise = random_case(seed)
    losses = loss * np.random.default_rng(seed).random((len(priors), *loss.shape))
    found = solved(priors, losses[0], promise, costs=[sf.Loss(array, "km") for array in losses])
    masses = np.array([prior.probabilities for prior in priors])
    reference = by_highs(masses, losses, promise.epsilon * promise.metric.array)
    assert found.lower_bound <= reference + 1e-8
    assert found.value == pytest.approx(reference, rel=3e-6, abs=1e-8)
    for prior, array, most in zip(priors, losses, found.losses, strict=True):
        assert exact.expected(found.mechanism, prior, array) <= Fraction(most) <= Fraction(found.value)
    # The design that a file holds: its prior and loss are those of the mixture, and its prices prove the bound.
    pairs = zip(priors, losses, strict=True)
    mixture = found.weights @ np.array([found.mechanism.expected_loss(*pair) for pair in pairs])
    assert found.mechanism.expected_loss(found.least_favourable, found.loss) == pytest.approx(mixture)
    assert found.lower_bound <= found.design.certificate.bound <= found.design.certificate.loss
    assert found.design.certificate.loss <= found.value + 1e-9


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_the_design_for_the_least_favourable_prior_has_the_same_loss(seed):
    priors, loss, promise = random_case(seed)
    found = solved(priors, loss, promise)
    masses = np.array([prior.probabilities for prior in priors])
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.least_favourable.probabilities == pytest.approx(found.weights @ masses)
    at_witness = sf.design(
        found.least_favourable, loss=loss, guarantees=promise, observables=found.mechanism.observables
    )
    assert at_witness.certificate.loss == pytest.approx(found.value, rel=3e-6)
    # No mixture of the priors has a larger least loss, and none loses more with the mechanism.
    rng = np.random.default_rng(seed)
    for weights in rng.dirichlet(np.ones(len(priors)), 2):
        mixed = sf.Prior.from_counts(priors[0].space, weights @ masses)
        other = sf.design(mixed, loss=loss, guarantees=promise, observables=found.mechanism.observables)
        assert other.certificate.bound <= found.value + 1e-9
        assert found.mechanism.expected_loss(mixed, loss) <= found.value + 1e-9


def test_opposite_priors_meet_in_the_middle():
    # By symmetry the even prior is least favourable, and randomised response is the best for it.
    bit = sf.Space("ab")
    found = design_robust(
        [sf.Prior(bit, [1, 0]), sf.Prior(bit, [0, 1])],
        loss=sf.hamming(bit),
        guarantees=sf.MetricPrivacy(1.0, sf.hamming(bit)),
    )
    assert found.value == pytest.approx(1 / (1 + math.e), abs=1e-6)
    assert found.weights == pytest.approx([0.5, 0.5], abs=1e-6)
    assert found.epsilon_upper <= 1.0
    assert found.mechanism.guarantees == found.guarantees


def test_all_point_masses_are_the_worst_case():
    space, metric = line(4)
    promise = sf.MetricPrivacy(1.0, metric)
    found = design_robust([sf.Prior(space, row) for row in np.eye(4)], loss=metric, guarantees=promise)
    worst = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=promise, objective="worst-case")
    assert found.value == pytest.approx(worst.certificate.value, rel=3e-6)
    assert found.lower_bound <= worst.certificate.value


def test_one_prior_is_a_design_and_a_second_one_never_helps():
    priors, loss, promise = random_case(11)
    one = solved(priors[:1], loss, promise)
    plain = sf.design(priors[0], loss=loss, guarantees=promise, observables=one.mechanism.observables)
    assert one.value == pytest.approx(plain.certificate.loss, rel=3e-6)
    more = solved(priors, loss, promise)
    assert more.value >= one.lower_bound - 1e-12
    again = solved([*priors, priors[0]], loss, promise)
    assert again.value == pytest.approx(more.value, rel=3e-6)


def test_a_loss_of_nothing_and_a_lattice():
    bit = sf.Space("ab")
    free = design_robust(
        [sf.Prior.uniform(bit)], loss=np.zeros((2, 2)), guarantees=sf.MetricPrivacy(1.0, sf.hamming(bit))
    )
    assert free.value == 0
    assert free.status is Status.OPTIMAL
    lattice = sf.Lattice.covering("48.84,2.33,48.86,2.36", "3 km", kind="triangular")
    rng = np.random.default_rng(0)
    priors = [sf.Prior(lattice, rng.dirichlet(np.ones(len(lattice)))) for _ in range(2)]
    found = design_robust(
        priors, loss=lattice.metric("euclidean", unit="km"), guarantees=sf.CoordinatePrivacy("1/km"), gap=1e-3
    )
    assert found.status is Status.OPTIMAL
    assert found.metric_privacy[0].holds


def test_progress_time_and_stop_leave_a_proved_answer():
    priors, loss, promise = random_case(0)
    steps: list[sf.optimal.Progress] = []
    whole = solved(priors, loss, promise, progress=steps.append)
    assert tuple(steps) == whole.log
    assert all(a.value >= b.value and a.bound <= b.bound for a, b in pairwise(steps))
    calls = iter(range(10**6))
    stopped = solved(priors, loss, promise, stop=lambda: next(calls) > 3)
    assert stopped.status in (Status.INTERRUPTED, Status.OPTIMAL)
    assert stopped.lower_bound <= whole.value
    assert stopped.value >= whole.lower_bound
    assert all(proof.holds for proof in stopped.metric_privacy)
    assert "priors and their mixtures" in repr(stopped)
    assert isinstance(stopped, RobustDesign)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_both_sides_of_the_small_game_meet(seed):
    rng = np.random.default_rng(seed)
    losses = rng.random(tuple(rng.integers(1, 7, 2))) * 10.0 ** rng.integers(-3, 4)
    shares, priors = best_mixture(losses)
    assert shares.sum() == pytest.approx(1)
    assert priors.sum() == pytest.approx(1)
    assert (losses @ priors).min() == pytest.approx((shares @ losses).max(), rel=1e-7)


def test_what_does_not_fit_is_refused():
    space, metric = line(3)
    prior, promise = sf.Prior.uniform(space), sf.MetricPrivacy(1.0, metric)
    with pytest.raises(InputError, match="no prior"):
        design_robust([], loss=metric, guarantees=promise)
    with pytest.raises(InputError, match="an item of priors= is of type list, but a Prior"):
        design_robust([cast(Any, [0.5, 0.5])], loss=metric, guarantees=promise)
    with pytest.raises(InputError, match="at position 1 is on other secrets"):
        design_robust([prior, sf.Prior.uniform(sf.Space("abc"))], loss=metric, guarantees=promise)
    with pytest.raises(InputError, match="depends on a prior"):
        design_robust([prior], loss=metric, guarantees=sf.DistortionPrivacy(0.1, metric))
    with pytest.raises(InputError, match="at least 0"):
        design_robust([prior], loss=-metric.array, guarantees=promise)
    with pytest.raises(InputError, match="differ in number: 2 and 1"):
        design_robust([prior], loss=[metric, metric], guarantees=promise)
    with pytest.raises(InputError, match="differ in name or unit"):
        design_robust([prior, prior], loss=[metric, sf.Loss(metric.array)], guarantees=promise)
    with pytest.raises(InputError, match="no guarantee"):
        design_robust([prior], loss=metric, guarantees=())
    with pytest.raises(InputError, match="gap"):
        design_robust([prior], loss=metric, guarantees=promise, gap=0)
    with pytest.raises(InputError, match="time limit"):
        design_robust([prior], loss=metric, guarantees=promise, time_limit=0)
    with pytest.raises(InputError, match="unknown"):
        design_robust([prior], loss=metric, guarantees=promise, solver="oracle")


@pytest.mark.parametrize(
    ("limit", "passed", "status"),
    [(3600.0, 0, Status.INACCURATE), (math.inf, 0, Status.INACCURATE), (3600.0, 1800, Status.TIME_LIMIT)],
)
def test_a_later_design_that_fails_leaves_the_first(monkeypatch, limit, passed, status):
    space, metric = line(4)
    leaning = [sf.Prior(space, [0.7, 0.1, 0.1, 0.1]), sf.Prior(space, [0.05, 0.05, 0.4, 0.5])]
    solve, calls, now = SolveSession.solve, [], [0.0]
    set_clock(monkeypatch, lambda: now[0])

    def fails(run, *asked):
        calls.append(run)
        if len(calls) > 1:
            now[0] += passed
            raise SolverError("it broke off.", "allow more time.")
        return solve(run, *asked)

    monkeypatch.setattr(SolveSession, "solve", fails)
    promise = sf.MetricPrivacy("1/km", metric)
    found = design_robust(leaning, loss=metric, guarantees=promise, time_limit=limit)
    assert found.status is status
    assert math.isfinite(found.value)


def test_no_bound_is_below_zero():
    bit = sf.Space("ab")
    sure = [sf.Prior(bit, [1, 0]), sf.Prior(bit, [0, 1])]
    huge = design_robust(sure, loss=sf.hamming(bit), guarantees=sf.MetricPrivacy(800, sf.hamming(bit)))
    assert 0 <= huge.lower_bound <= huge.value
