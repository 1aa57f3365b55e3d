"""Designs with distribution privacy: an independent program, exact proofs, small cases, refusals."""

import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, UnitError
from sfumato.intervals import exp_below_exact
from sfumato.optimal import Status, design_robust, equilibrium
from sfumato.privacy import (
    DistributionPrivacy,
    Family,
    FamilyDistance,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    Relation,
)
from sfumato.proofs import (
    ManyMultipliers,
    Multipliers,
    family_rows,
    many_loss_bound,
    prove_families,
    prove_optimality,
)

from ..proofs import exact

SHIFTS = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
SPACE = sf.Space("abc")
PRIOR, LOSS = sf.Prior(SPACE, [0.5, 0.3, 0.2]), sf.hamming(SPACE)


def hide(epsilon, notion=None):
    """The guarantee for the two shifts, or another notion."""
    return sf.FamilyPrivacy(epsilon, DistributionPrivacy(SHIFTS) if notion is None else notion)


def least_loss(prior, loss, family, exponents, delta=0.0, limits=None):
    """The least loss by the simplex method of SciPy, with every row written out.

    ``exponents`` are those of the pairs, ``limits`` those of metric privacy, array (n, n).
    """
    n, m = loss.shape
    size, count = n * m, len(family.pairs)
    rows, right = [], []

    def add(limit, *entries):
        row = np.zeros(size + count * m)
        for place, values in entries:
            row[place] = values
        rows.append(row)
        right.append(limit)

    for k, (i, j) in enumerate(family.pairs):
        if not np.isfinite(exponents[k]):
            continue
        weights = family.distributions[i] - math.exp(exponents[k]) * family.distributions[j]
        for o in range(m):
            add(0.0, (slice(o, size, m), weights), (size + k * m + o, -1.0))
        add(delta, (slice(size + k * m, size + (k + 1) * m), 1.0))
    for s, t in [] if limits is None else np.argwhere(~np.eye(n, dtype=bool)):
        for o in range(m):
            add(0.0, (s * m + o, 1.0), (t * m + o, -math.exp(limits[s, t])))
    ones = np.zeros((n, size + count * m))
    for s in range(n):
        ones[s, s * m : (s + 1) * m] = 1.0
    cost = np.concatenate([(prior[:, None] * loss).ravel(), np.zeros(count * m)])
    answer = linprog(cost, np.array(rows), right, ones, np.ones(n), method="highs-ds")
    assert answer.status == 0
    return answer.fun


def masses_above(mechanism, family, exponents):
    """For each pair the sum over o of max(0, lam p(o) - e^exponent mu p(o)), in fractions, from above."""
    rows = exact.probabilities(mechanism)
    images = [
        [
            sum(Fraction(float(w)) * row[o] for w, row in zip(weights, rows, strict=True))
            for o in range(len(rows[0]))
        ]
        for weights in family.distributions
    ]
    masses = []
    for (i, j), exponent in zip(family.pairs.tolist(), exponents, strict=True):
        if math.isinf(exponent):
            masses.append(Fraction(0))
            continue
        top, power = exp_below_exact(1.0, float(exponent))
        factor = Fraction(top, 1 << power)
        masses.append(sum(max(Fraction(0), p - factor * q) for p, q in zip(images[i], images[j], strict=True)))
    return masses


def random_case(seed):
    """A problem with 2 to 4 distributions, and sometimes a delta, distances or metric privacy."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    rows = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 3.0])), count)
    if rng.random() < 0.3:  # distributions that rule out secrets
        rows = np.where(rows < 0.15, 0.0, rows)
        rows /= rows.sum(axis=1, keepdims=True)
    pairs = [(str(i), str(j)) for i in range(count) for j in range(count) if i != j]
    sample = [pairs[k] for k in rng.permutation(len(pairs))[: int(rng.integers(1, len(pairs) + 1))]]
    family = Family(rows, sample if rng.random() < 0.3 else None)
    delta = float(rng.choice([0.0, 0.01, 0.1]))
    epsilon = float(rng.choice([0.1, 0.5, 1.0, 3.0]))
    points = rng.random((n, 2))
    metric = sf.Metric(np.hypot(*(points[:, None] - points).transpose(2, 0, 1)), "km")
    exponents = np.full(len(family.pairs), epsilon)
    notion: DistributionPrivacy | MetricDistributionPrivacy = DistributionPrivacy(family, delta)
    if rng.random() < 0.4:
        distance = FamilyDistance.wasserstein(family, metric, float(rng.choice([1.0, 2.0, math.inf])))
        notion = MetricDistributionPrivacy(family, distance, delta)
        exponents = epsilon * distance.lower[tuple(family.pairs.T)]
    guarantees: list[sf.FamilyPrivacy | sf.MetricPrivacy] = [sf.FamilyPrivacy(epsilon, notion)]
    limits = None
    if rng.random() < 0.3:
        guarantees.append(sf.MetricPrivacy(4.0, metric))
        limits = 4.0 * metric.array
    prior, loss = sf.Prior(sf.Space(range(n)), rng.dirichlet(np.ones(n))), rng.random((n, n))
    return prior, loss, guarantees, family, exponents, delta, limits


def check(seed):
    """Compare a random design with the optimum of another program, its bound, and exact arithmetic."""
    prior, loss, guarantees, family, exponents, delta, limits = random_case(seed)
    design = sf.design(prior, loss=loss, guarantees=guarantees)
    best = least_loss(prior.probabilities, loss, family, exponents, delta, limits)
    certificate = design.certificate
    assert design.status is Status.OPTIMAL
    assert certificate.holds
    assert certificate.bound <= best + 1e-9
    assert best - 1e-9 <= certificate.loss <= best + 2e-6 * max(best, 1e-3)
    assert all(mass <= Fraction(delta) for mass in masses_above(design.mechanism, family, exponents))
    assert design.optimality is not None
    proof = prove_optimality(prior, design.problem.loss, design.problem.guarantees, design.optimality)
    assert proof == pytest.approx(certificate.bound, abs=1e-9)


@pytest.mark.parametrize("start", range(0, 20, 5))
def test_random_designs_reach_the_optimum_of_another_program(start):
    for seed in range(start, start + 5):
        check(seed)


@pytest.mark.slow
def test_two_hundred_random_designs_reach_the_optimum_of_another_program():
    for seed in range(200):
        check(seed)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_any_prices_bound_any_mechanism_with_the_guarantee(seed):
    rng = np.random.default_rng(seed)
    n, m, count = (int(size) for size in rng.integers(2, 6, 3))
    mechanism = sf.Mechanism(rng.dirichlet(np.ones(m), n))
    notion = DistributionPrivacy(Family(rng.dirichlet(np.ones(n), count)), float(rng.choice([0.0, 0.05])))
    guarantee = sf.FamilyPrivacy(notion.measure(mechanism).upper, notion)
    loss, mass = rng.random((n, m)), rng.dirichlet(np.ones(n))
    rows = family_rows([guarantee], n)
    families = rng.normal(size=(len(rows), m)) * float(rng.choice([0.01, 0.1, 1.0]))
    prices = ManyMultipliers(Multipliers.without_rows(), np.ones(1), (), np.empty(0), families)
    bound = many_loss_bound(mass[None, :], loss, prices, prior=mass, families=rows)
    value = sum(
        Fraction(float(weight)) * p * Fraction(float(cost))
        for weight, row, costs in zip(mass, exact.probabilities(mechanism), loss, strict=True)
        for p, cost in zip(row, costs, strict=True)
    )
    assert Fraction(bound) <= value


def test_two_overlapping_shifts_have_the_optimum_in_closed_form():
    # A person of the day shift is at a or b, of the night shift at b or c. Truth about a and b needs c to report
    # a with e^-epsilon, at which the odds of report a are just allowed; the rest of c's reports costs the same.
    design = sf.design(PRIOR, loss=LOSS, guarantees=hide(0.5))
    assert design.certificate.loss == pytest.approx(0.2, rel=1e-6)
    (proof,) = design.certificate.families
    assert (proof.claimed, proof.holds, proof.unit) == (0.5, True, "")
    assert set(proof.worst_pair) == {"day", "night"}
    assert "0.5 between the distributions day and night" in repr(design)


def test_point_masses_of_all_secrets_are_local_differential_privacy():
    points = Family.of_points(Relation(~np.eye(3, dtype=bool)))
    of_points = sf.design(PRIOR, loss=LOSS, guarantees=hide(1.0, DistributionPrivacy(points)))
    of_secrets = sf.design(PRIOR, loss=LOSS, guarantees=sf.MetricPrivacy(1.0, sf.hamming(SPACE)))
    assert of_points.certificate.loss == pytest.approx(of_secrets.certificate.loss, rel=1e-5)


def test_more_epsilon_or_delta_never_costs_more():
    losses = [sf.design(PRIOR, loss=LOSS, guarantees=hide(e)).certificate.loss for e in (0.01, 0.3, 1.0, 5.0)]
    assert losses == sorted(losses, reverse=True)
    losses = [
        sf.design(PRIOR, loss=LOSS, guarantees=hide(0.3, DistributionPrivacy(SHIFTS, delta))).certificate.loss
        for delta in (0.0, 0.01, 0.2, 0.6)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-9


def test_distribution_privacy_holds_with_other_guarantees_and_objectives():
    error = sf.DistortionPrivacy(0.45, LOSS)
    private = sf.design(PRIOR, loss=LOSS, guarantees=[hide(0.5), error])
    assert private.certificate.holds
    assert private.certificate.distortion[0].lower >= 0.45
    assert private.is_finished
    worst = sf.design(PRIOR, loss=LOSS, guarantees=hide(0.5), objective="worst-case")
    assert worst.is_finished
    half = sf.optimal.LinearConstraint([[0, 0, 0], [0, 1, 0], [0, 0, 0]], 0.5)
    limited = sf.design(PRIOR, loss=LOSS, guarantees=hide(0.5), constraints=half)
    assert limited.certificate.holds
    assert limited.mechanism.matrix[1, 1] <= 0.5
    robust = design_robust([PRIOR, sf.Prior.uniform(SPACE)], loss=LOSS, guarantees=hide(0.5))
    assert prove_families(robust.mechanism, [hide(0.5)])[0].holds


def test_the_probabilistic_variant_follows_from_the_guarantee_without_delta():
    notion = ProbabilisticDistributionPrivacy(SHIFTS, 0.05)
    design = sf.design(PRIOR, loss=LOSS, guarantees=hide(0.5, notion))
    assert str(design.guarantees[0]) == str(hide(0.5))
    assert notion.measure(design.mechanism).upper <= 0.5


@pytest.mark.parametrize("delta", [0.0, 1e-13, 1e-3, 1.0])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 0.1, 30.0, 800.0])
def test_extreme_numbers_are_proved_in_fractions(epsilon, delta):
    design = sf.design(PRIOR, loss=LOSS, guarantees=hide(epsilon, DistributionPrivacy(SHIFTS, delta)))
    assert design.certificate.holds
    assert all(
        mass <= Fraction(delta) for mass in masses_above(design.mechanism, SHIFTS, [min(epsilon, 600.0)] * 2)
    )


def test_one_secret_rare_values_and_a_certain_prior_are_designed():
    certain = sf.Prior(sf.Space("a"), [1.0])
    design = sf.design(certain, loss=[[0.0]], guarantees=hide(0.0, DistributionPrivacy(Family([[1.0], [1.0]]))))
    assert design.certificate.loss == 0
    rare = Family({"x": [1 - 1e-13, 1e-13, 0.0], "y": [0.0, 1e-13, 1 - 1e-13]})
    assert sf.design(PRIOR, loss=LOSS, guarantees=hide(0.1, DistributionPrivacy(rare))).certificate.holds
    mute = sf.Prior(SPACE, [1.0, 0.0, 0.0])
    assert sf.design(mute, loss=LOSS, guarantees=hide(0.1)).certificate.loss < 1e-9


def test_a_guarantee_survives_a_pickle():
    copy = pickle.loads(pickle.dumps(hide(0.5)))
    assert repr(copy) == repr(hide(0.5))
    np.testing.assert_array_equal(copy.rows().first, hide(0.5).rows().first)


def test_no_guarantee_is_proved_of_the_identity():
    (proof,) = prove_families(sf.Mechanism(np.eye(3), SPACE), [hide(0.5)])
    assert not proof.holds
    assert proof.upper == math.inf


def test_impossible_designs_are_refused_with_a_reason():
    make = partial(sf.design, PRIOR, loss=LOSS)
    directed = Family(
        dict(zip(SHIFTS.names, SHIFTS.distributions, strict=True)), [(SHIFTS.names[0], SHIFTS.names[1])]
    )
    with pytest.raises(InputError, match="both orders"):
        hide(0.5, ProbabilisticDistributionPrivacy(directed, 0.1))
    with pytest.raises(InputError, match="at least 0"):
        hide(-0.5)
    with pytest.raises(UnitError, match="km"):
        hide("0.5/km")
    two = sf.Space("ab")
    with pytest.raises(InputError, match="3 secrets, but there are 2"):
        sf.design(sf.Prior.uniform(two), loss=sf.hamming(two), guarantees=hide(0.5))
    with pytest.raises(InputError, match="dual game"):
        sf.maximise_distortion(PRIOR, loss=LOSS, max_loss=0.5, guarantees=hide(0.5))
    truth = sf.optimal.LinearConstraint(-np.eye(3), -2.9, name="truth")
    with pytest.raises(InfeasibleError, match=r"(?s)with this guarantee and these reports .* or raise epsilon"):
        make(guarantees=hide(0.5), constraints=truth)
    with pytest.raises(InputError, match="no distribution privacy"):
        make(guarantees=hide(0.5), solver="structured")
    with pytest.raises(InputError, match="no single price"):
        equilibrium(make(guarantees=[hide(0.5), sf.DistortionPrivacy(0.1, LOSS)]))


def test_the_interior_point_and_highs_reach_the_same_optimum():
    rng = np.random.default_rng(5)
    for n, m, count, delta in ((60, 50, 3, 0.0), (40, 80, 4, 0.02)):
        prior, loss = sf.Prior(sf.Space(range(n)), rng.dirichlet(np.ones(n))), rng.random((n, m))
        notion = DistributionPrivacy(Family(rng.dirichlet(np.ones(n), count)), delta)
        guarantee, reports = sf.FamilyPrivacy(0.3, notion), sf.Space(range(m))
        interior = sf.design(prior, loss=loss, guarantees=guarantee, observables=reports)
        simplex = sf.design(prior, loss=loss, guarantees=guarantee, observables=reports, solver="highs")
        assert interior.status is Status.OPTIMAL
        assert interior.certificate.holds
        assert interior.solver == "structured interior point for distributions"
        assert interior.certificate.loss == pytest.approx(simplex.certificate.loss, rel=3e-6)
        assert max(interior.certificate.bound, simplex.certificate.bound) <= interior.certificate.loss


@pytest.mark.parametrize(("n", "grid", "epsilon"), [(3, 8, 0.0), (6, 1000, 0.0), (9, 2**53, 0.0), (6, 2**40, 2.0)])
def test_at_epsilon_zero_two_groups_have_exactly_equal_reports_at_the_least_loss(n, grid, epsilon):
    rng = np.random.default_rng(n)
    groups = np.floor(rng.dirichlet(np.ones(n), 2) * grid)
    groups[:, 0] += grid - groups.sum(axis=1)
    groups = groups / grid if grid != 1000 else groups / 1024 + np.eye(1, n) * 24 / 1024
    family = Family(groups)
    prior, loss = sf.Prior(sf.Space(range(n)), rng.dirichlet(np.ones(n))), rng.random((n, n))
    guarantees = [hide(0.0, DistributionPrivacy(family))]
    if epsilon:
        guarantees.append(sf.MetricPrivacy(epsilon, sf.hamming(prior.space)))
    design = sf.design(prior, loss=loss, guarantees=guarantees)
    assert design.status is Status.OPTIMAL
    assert design.certificate.families[0].upper == 0
    rows = exact.probabilities(design.mechanism)
    moves = [Fraction(float(a)) - Fraction(float(b)) for a, b in groups.T]
    assert not any(sum(move * row[o] for move, row in zip(moves, rows, strict=True)) for o in range(n))
    limits = np.full((n, n), epsilon) if epsilon else None
    best = least_loss(prior.probabilities, loss, family, np.zeros(2), limits=limits)
    assert design.certificate.loss == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_at_epsilon_zero_three_groups_get_at_least_a_constant_report_with_its_gap():
    rng = np.random.default_rng(0)
    prior, loss = sf.Prior.uniform(sf.Space(range(6))), 1 - np.eye(6)
    groups = Family(rng.multinomial(1024, np.full(6, 1 / 6), 3) / 1024)
    design = sf.design(prior, loss=loss, guarantees=hide(0.0, DistributionPrivacy(groups)))
    best = least_loss(prior.probabilities, loss, groups, np.zeros(6))
    assert design.certificate.families[0].upper == 0
    assert design.certificate.bound == pytest.approx(best, rel=1e-6)
    assert best - 1e-9 <= design.certificate.loss <= 5 / 6 + 1e-9
    assert design.is_finished == (design.certificate.loss <= best * (1 + 1e-4))
    assert sf.design(PRIOR, loss=LOSS, guarantees=hide(0.0, DistributionPrivacy(Family(np.eye(3))))).is_finished


@pytest.mark.parametrize(
    ("seed", "delta", "twins", "error", "objective"),
    [
        (0, 0.0, False, 0.0, "expected"),
        (1, 0.02, False, 0.0, "expected"),
        (2, 0.0, True, 0.0, "expected"),
        (3, 0.02, False, 0.5, "expected"),
        (4, 0.0, False, 0.0, "worst-case"),
    ],
)
def test_with_metric_privacy_the_interior_point_and_highs_reach_the_same_optimum(
    seed, delta, twins, error, objective
):
    rng, n, m = np.random.default_rng(seed), 21, 20
    points, reports = 4 * rng.random((n, 2)), sf.Space(range(m))
    points[1] = points[0] if twins else points[1]
    masses = np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    prior = sf.Prior(sf.Space(range(n)), masses / masses.sum())
    apart = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    groups = Family(rng.dirichlet(np.full(n, 0.3), 4))
    guarantees = [hide(0.3, DistributionPrivacy(groups, delta)), sf.MetricPrivacy(1.0, sf.Metric(apart))]
    if error:
        blind = float((apart @ prior.probabilities).min())
        guarantees.append(sf.DistortionPrivacy(error * blind, sf.Loss(apart)))
    loss = sf.Loss(np.hypot(*(points[:, None] - 4 * rng.random((m, 2))).transpose(2, 0, 1)))
    solve = partial(sf.design, prior, loss=loss, guarantees=guarantees, observables=reports, objective=objective)
    ours, other = solve(), solve(solver="highs")
    assert ours.solver == "structured interior point with distributions"
    assert ours.status is Status.OPTIMAL
    assert max(step.value for step in ours.log) <= ours.log[0].value  # that of the closed forms
    assert ours.certificate.holds
    assert ours.certificate.value == pytest.approx(other.certificate.value, rel=3e-6)
    assert max(ours.certificate.bound, other.certificate.bound) <= ours.certificate.value


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.9])
def test_large_exponents_are_solved_to_the_gap(delta):
    rng = np.random.default_rng(5)
    for n, count in ((3, 2), (4, 3), (5, 2), (6, 4)):
        rows = np.where(rng.random((count, n)) < 0.3, 0.0, rng.dirichlet(np.full(n, 0.5), count)) + 1e-3 * np.eye(
            count, n
        )
        family = Family(rows / rows.sum(axis=1, keepdims=True))
        distances = 3 * rng.random((count, count))
        notion = MetricDistributionPrivacy(family, distances * (1 - np.eye(count)), delta)
        prior = sf.Prior(sf.Space(range(n)), rng.dirichlet(np.ones(n)))
        design = sf.design(prior, loss=sf.Loss(rng.random((n, n))), guarantees=sf.FamilyPrivacy(30.0, notion))
        assert design.certificate.families[0].holds
        assert design.certificate.loss <= design.certificate.bound + 1e-6


def test_an_epsilon_that_overflows_per_distance_constrains_nothing():
    distance = FamilyDistance([[0.0, 100.0], [100.0, 0.0]], "km")
    design = sf.design(PRIOR, loss=LOSS, guarantees=hide("1e307/km", MetricDistributionPrivacy(SHIFTS, distance)))
    assert design.certificate.holds
    assert design.certificate.value <= 1e-6


def test_the_worst_of_several_priors_may_hide_distributions_alone():
    robust = design_robust([PRIOR, sf.Prior.uniform(SPACE)], loss=LOSS, guarantees=hide(0.5))
    assert robust.design.certificate.families[0].holds
    assert robust.metric_privacy == ()
    assert robust.epsilon_upper == math.inf


@pytest.mark.parametrize("seed", [0, 1])
def test_the_worst_of_several_priors_at_epsilon_zero_has_exactly_equal_reports(seed):
    rng, n = np.random.default_rng(seed), 4
    family = Family(rng.multinomial(1024, rng.dirichlet(np.ones(n)), 2) / 1024)
    priors = [sf.Prior(sf.Space(range(n)), mass) for mass in rng.dirichlet(np.ones(n), 3)]
    loss = rng.random((n, n))
    robust = design_robust(priors, loss=loss, guarantees=hide(0.0, DistributionPrivacy(family)))
    assert robust.status is Status.OPTIMAL
    assert robust.design.certificate.families[0].upper == 0
    best = least_loss(robust.least_favourable.probabilities, loss, family, np.zeros(2))
    assert robust.value == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_a_stopped_design_for_several_priors_is_proved(epsilon):
    calls = iter(range(10**6))
    robust = design_robust(
        [PRIOR, sf.Prior.uniform(SPACE)], loss=LOSS, guarantees=hide(epsilon), stop=lambda: next(calls) > 2
    )
    assert robust.status is Status.INTERRUPTED
    assert robust.design.certificate.holds
    assert robust.value < 2 / 3  # that of the best constant report


def test_too_many_pairs_of_distributions_for_the_memory_are_refused():
    n, rng = 51, np.random.default_rng(0)
    prior, groups = sf.Prior.uniform(sf.Space(range(n))), Family(rng.dirichlet(np.ones(n), 150))
    with pytest.raises(InputError, match=r"22,350 ordered pairs of distributions takes about \d+ GB of memory"):
        sf.design(prior, loss=1 - np.eye(n), guarantees=hide(0.5, DistributionPrivacy(groups)))


@pytest.mark.parametrize(("near", "seed"), [(1e-8, 1), (1e-8, 3), (1e-6, 5), (1e-6, 8)])
def test_no_bound_exceeds_the_loss_of_a_constant_report_where_sums_differ_by_rounding(near, seed):
    rng, n = np.random.default_rng(seed), 3
    first, second = rng.dirichlet(np.ones(n), 2)
    groups = Family([first * (1 + 5e-10), first + near * (second - first)])
    prior, loss = sf.Prior(sf.Space(range(n)), rng.dirichlet(np.ones(n))), rng.random((n, n))
    certificate = sf.design(prior, loss=loss, guarantees=hide(0.0, DistributionPrivacy(groups))).certificate
    assert certificate.holds
    assert certificate.bound <= float((prior.probabilities @ loss).min())
