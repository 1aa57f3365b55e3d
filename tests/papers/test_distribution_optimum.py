"""The best report, independent dummies and pair for two groups, by enumeration and linear programs."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import comb

import sfumato as sf
from sfumato.errors import InputError
from sfumato.leakage import bayes_vulnerability
from sfumato.mechanisms import FamilyAccountant, Tupling, attack_success, optimised_dummies
from sfumato.privacy import DistributionPrivacy, Family
from sfumato.transport import wasserstein
from sfumato_papers.distribution_privacy import (
    Groups,
    best_dummies,
    best_report,
    least_variation,
    partner_dummies,
)
from sfumato_papers.distribution_privacy.groups import splits
from sfumato_papers.distribution_privacy.measurements import DELTA
from sfumato_papers.distribution_privacy.optimum import (
    PARTNER,
    REPORT,
    REPORT_AMONG,
    compare,
    design_reports,
    transfer,
)
from sfumato_papers.invented_city import invented_city
from sfumato_papers.reproduction import Judgement
from sfumato_papers.results import where


def least_loss(laws, losses, variation=0.0):
    """The least expected loss, losses (n, T), within a total variation of two laws, or of 0 between all laws."""
    n, m = losses.shape
    prior = laws.mean(axis=0)
    rows = [sparse.kron(np.ones((1, m)), sparse.eye(n))]  # p(T|s) report by report
    sides = [np.ones(n)]
    for law in laws[1:]:
        rows.append(sparse.kron(sparse.eye(m), (laws[0] - law)[None, :]))
        sides.append(np.zeros(m))
    cost = (prior[:, None] * losses).T.ravel()
    if not variation:
        answer = linprog(cost, A_eq=sparse.vstack(rows), b_eq=np.concatenate(sides))
    else:
        (difference,) = rows[1:]
        above = sparse.hstack([difference, -sparse.eye(m)])
        total = np.concatenate([np.zeros(n * m), np.ones(m)])[None, :]
        answer = linprog(
            np.concatenate([cost, np.zeros(m)]),
            A_ub=sparse.vstack([above, total]),
            b_ub=np.concatenate([np.zeros(m), [variation]]),
            A_eq=sparse.hstack([rows[0], sparse.csr_matrix((n, m))]),
            b_eq=sides[0],
        )
    assert answer.status == 0
    return answer.fun


def random_groups(seed, n=5):
    """Two groups on points of the plane: some points belong to one group only, or are as frequent in both."""
    random = np.random.default_rng(seed)
    points = random.random((n, 2))
    laws = random.dirichlet(np.full(n, 0.7), size=2)
    laws[0, 0] = 0
    laws[:, -1] = 0.2 * (seed % 2)
    laws[:, :-1] *= (1 - laws[:, -1:]) / laws[:, :-1].sum(axis=1, keepdims=True)
    space = sf.Space([str(k) for k in range(n)], points, "km")
    first, second = (sf.Prior(space, law) for law in laws)
    return Groups(("one", "two"), (first, second), space.metric("euclidean"))


def to_places(groups, places):
    """Distances from the secrets to places, array (n, m)."""
    points = np.asarray(groups.priors[0].space.coordinates)
    return np.sqrt(((points[:, None] - places) ** 2).sum(axis=2))


def of_tuples(distances, queries):
    """The loss of every multiset of reports, array (n, T)."""
    sets = list(itertools.combinations_with_replacement(range(distances.shape[1]), queries))
    return distances[:, np.array(sets)].min(axis=2)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_the_best_report_is_that_of_a_linear_program_with_more_places_to_report(seed, share):
    groups = random_groups(seed)
    report, loss = best_report(groups, share * groups.total_variation)
    points = np.asarray(groups.priors[0].space.coordinates)
    between = (points[:, None] + points).reshape(-1, 2) / 2
    places = np.vstack([points, between, np.random.default_rng(seed).random((10, 2))])
    least = least_loss(groups.distributions, to_places(groups, places), share * groups.total_variation)
    assert loss.lower <= least + 1e-9
    assert loss.upper == pytest.approx(least, abs=1e-9)
    assert loss.width < 1e-9
    p, q = report.lift(groups.distributions)
    assert np.abs(p - q).sum() / 2 <= share * groups.total_variation + 1e-12
    assert report.expected_loss(groups.population, groups.metric) <= loss.upper


def test_the_loss_falls_with_the_total_variation_and_is_convex():
    groups = random_groups(3, n=9)
    losses = [best_report(groups, share * groups.total_variation)[1].upper for share in np.linspace(0, 1, 21)]
    assert losses[-1] == 0
    assert (np.diff(losses) <= 1e-12).all()
    assert (np.diff(losses, 2) >= -1e-12).all()


def test_hiding_the_group_with_one_report_loses_at_least_half_of_the_distance_of_the_groups():
    """Half of W_1; as much for groups that share no place, where one of each couple moves."""
    for seed in range(5):
        groups = random_groups(seed, n=8)
        first, second = groups.distributions
        half = wasserstein(first, second, groups.metric).distance.value / 2
        assert best_report(groups)[1].lower >= half - 1e-12
    line = sf.Space(("a", "b", "c"), [[0.0], [1.0], [4.0]], "km")
    laws = (sf.Prior(line, [0.5, 0.5, 0.0]), sf.Prior(line, [0.0, 0.0, 1.0]))
    disjoint = Groups(("one", "two"), laws, line.metric("euclidean"))
    assert best_report(disjoint)[1].upper == pytest.approx(3.5 / 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_two_reports_give_every_secret_its_nearest_answer_and_hide_the_group(seed):
    """A program over all multisets of places; those of the secrets are not among the places in the second case."""
    groups = random_groups(seed)
    points = np.asarray(groups.priors[0].space.coordinates)
    assert least_loss(groups.distributions, of_tuples(to_places(groups, points), 2)) == pytest.approx(0, abs=1e-9)
    distances = to_places(groups, np.random.default_rng(seed + 100).random((5, 2)))
    nearest = float(groups.population.probabilities @ distances.min(axis=1))
    assert least_loss(groups.distributions, of_tuples(distances, 2)) == pytest.approx(nearest, abs=1e-9)
    assert least_loss(groups.distributions, distances) > nearest + 1e-6


def test_three_groups_need_two_dummies():
    random = np.random.default_rng(5)
    distances = to_places(random_groups(0), np.asarray(random_groups(0).priors[0].space.coordinates))
    laws = random.dirichlet(np.full(5, 0.3), size=3)
    assert least_loss(laws, of_tuples(distances, 3)) == pytest.approx(0, abs=1e-9)
    assert least_loss(laws, of_tuples(distances, 2)) > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_a_pair_holds_the_true_place_and_has_one_law_in_both_groups(seed):
    groups = random_groups(seed, n=7)
    pairs = partner_dummies(groups)
    labels: tuple[Any, ...] = pairs.observables.labels
    for secret, row in zip(groups.priors[0].space.labels, pairs.matrix, strict=True):
        assert all(secret in labels[column] for column in np.flatnonzero(row))
    p, q = pairs.lift(groups.distributions)
    np.testing.assert_allclose(p, q, atol=1e-15)
    family = Family({"one": groups.distributions[0], "two": groups.distributions[1]})
    assert DistributionPrivacy(family).measure(pairs).upper < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_that_hides_the_group_reveals_less_of_the_place(seed):
    """A program over all pairs of places: the best attacker names the more probable one."""
    groups = random_groups(seed, n=6)
    p, q = groups.distributions
    prior = groups.population.probabilities
    ends = [(s, t) for s, t in itertools.combinations(range(6), 2) if (p - q)[s] * (p - q)[t] < 0]
    ends += [(s, s) for s in range(6) if p[s] == q[s]]
    # Per pair: x(s) and x(t), and the success of the attacker.
    columns, cost = np.zeros((6, len(ends))), np.zeros(len(ends))
    for column, (s, t) in enumerate(ends):
        x = {s: 1.0} if s == t else {s: 1.0, t: abs((p - q)[s] / (p - q)[t])}
        columns[list(x), column] = list(x.values())
        cost[column] = max(prior[place] * share for place, share in x.items())
    least = linprog(cost, A_eq=columns, b_eq=np.ones(6)).fun
    assert bayes_vulnerability(partner_dummies(groups), groups.population) == pytest.approx(least, abs=1e-9)


def test_equal_groups_need_no_dummy():
    prior = random_groups(1).priors[0]
    groups = Groups(("one", "two"), (prior, prior), prior.space.metric("euclidean"))
    pairs = partner_dummies(groups)
    assert pairs.observables.labels == tuple((label, label) for label in prior.space.labels)
    report, loss = best_report(groups)
    assert (report.matrix == np.eye(len(prior))).all()
    assert loss.upper == 0
    assert best_dummies(report, groups, 3).probabilities.min() > 0


def variation_of(p, q, nu, queries):
    """The total variation of the tuples, one tuple at a time."""
    total = 0.0
    for y in itertools.product(range(len(nu)), repeat=queries):
        terms = [(p - q)[y[i]] * math.prod(nu[y[j]] for j in range(queries) if j != i) for i in range(queries)]
        total += abs(math.fsum(terms)) / queries / 2
    return total


@pytest.mark.parametrize("queries", [1, 2, 3, 4])
def test_no_independent_dummies_are_better_than_the_best(queries):
    random = np.random.default_rng(queries)
    for seed in range(4):
        groups = random_groups(seed, n=4)
        truth = sf.Mechanism(np.eye(4), groups.priors[0].space, groups.priors[0].space)
        p, q = groups.distributions
        least = least_variation(queries - 1) * groups.total_variation
        if queries > 1:
            nu = best_dummies(truth, groups, queries - 1).probabilities
            assert variation_of(p, q, nu, queries) == pytest.approx(least, abs=1e-5)
            perturbed = nu * random.dirichlet(np.full(4, 50.0), size=20) * 4
            laws = np.vstack([perturbed, random.dirichlet(np.ones(4), size=20), np.eye(4)])
            for law in laws / laws.sum(axis=1, keepdims=True):
                assert variation_of(p, q, law, queries) >= least
        assert variation_of(p, q, p, queries) >= least


@pytest.mark.parametrize(("n", "dummies"), [(3, 1), (4, 2), (3, 3)])
def test_dummies_that_depend_on_each_other_alone_leave_one_nth_of_the_total_variation(n, dummies):
    """Any law of the dummies as a multiset, by a linear program: less than independent dummies leave."""
    p, q = random_groups(4, n).distributions
    sets, tuples = (
        list(itertools.combinations_with_replacement(range(n), size)) for size in (dummies, dummies + 1)
    )
    excess = np.zeros((len(tuples), len(sets)))
    for k, others in enumerate(sets):
        for s in range(n):
            excess[tuples.index(tuple(sorted((*others, s)))), k] += p[s] - q[s]
    answer = linprog(
        np.append(np.zeros(len(sets)), np.ones(len(tuples))),
        np.hstack([excess, -np.eye(len(tuples))]),
        np.zeros(len(tuples)),
        np.append(np.ones(len(sets)), np.zeros(len(tuples)))[None, :],
        [1.0],
    )
    variation = np.abs(p - q).sum() / 2
    assert answer.fun == pytest.approx(variation / (dummies + 1), rel=1e-6)
    assert answer.fun <= least_variation(dummies) * variation + 1e-9


@pytest.mark.parametrize("dummies", [1, 10])
def test_the_best_dummies_are_no_worse_than_the_search_for_them(dummies):
    groups = random_groups(2, n=12)
    report, _ = best_report(groups, groups.total_variation / 2)
    best = Tupling(report, dummies, best_dummies(report, groups, dummies))
    success = attack_success(best, *groups.distributions)
    assert success.upper == pytest.approx(0.5 + least_variation(dummies) * groups.total_variation / 4, abs=1e-4)
    search = optimised_dummies(FamilyAccountant(best, groups.distributions), epsilon=0.0)
    assert 2 * success.lower - 1 <= search.value.upper


def test_the_least_variation_is_that_of_a_walk():
    """Signs of equal probability for an even number of reports; 4/9 for three: one against two."""
    assert [least_variation(k) for k in (0, 1, 2)] == pytest.approx([1, 1 / 2, 4 / 9], rel=1e-11)
    for queries in (2, 4, 10, 60):
        steps = np.arange(queries + 1)
        walk = (comb(queries, steps) * np.abs(queries - 2 * steps)).sum() / 2**queries / queries
        assert least_variation(queries - 1) == pytest.approx(walk, rel=1e-9)
    for queries in (7, 30):
        places = np.arange(1, queries) / queries
        steps = np.arange(queries + 1)[:, None]
        masses = comb(queries, steps) * places**steps * (1 - places) ** (queries - steps)
        spread = (masses * np.abs(steps - queries * places)).sum(axis=0) / (2 * queries * places * (1 - places))
        assert least_variation(queries - 1) == pytest.approx(spread.min(), rel=1e-9)
    assert least_variation(999) == pytest.approx(math.sqrt(2 / (math.pi * 1000)), rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_a_design_for_epsilon_0_loses_what_the_best_report_does(seed):
    """Another program, solver and bound: delta is the total variation."""
    groups = random_groups(seed, n=7)
    (row,) = design_reports(groups, (0.0,))["designs"]
    loss = best_report(groups, DELTA)[1]
    assert row.loss_km.lower <= loss.upper + 1e-12
    assert loss.lower <= row.loss_km.upper
    assert row.loss_km.upper == pytest.approx(loss.upper, rel=1e-4)


def test_bad_arguments_are_refused():
    groups = random_groups(0)
    with pytest.raises(InputError, match=r"total variation is -0\.1"):
        best_report(groups, -0.1)
    with pytest.raises(InputError, match="total variation is nan"):
        best_report(groups, math.nan)
    squares = sf.Metric(groups.metric.array**2, triangle=False)
    with pytest.raises(InputError, match="break the triangle inequality"):
        best_report(replace(groups, metric=squares))
    with pytest.raises(InputError, match="number of dummies is 0"):
        best_dummies(best_report(groups)[0], groups, 0)


@pytest.fixture(scope="module")
def area():
    return splits({"city": invented_city(users=60)}, "2 km", 1)[0]


def test_rows_are_those_of_the_mechanisms(area):
    groups = area.groups
    rows = compare(groups, area.city, (1.0, 4.0), (0.0, 0.5, 1.0), (1, 10))["optimum"]
    reports = where(rows, mechanism=REPORT)
    for row in reports:
        assert row.group_success.value == pytest.approx(0.5 + row.parameter * groups.total_variation / 2, abs=1e-9)
        assert row.loss_km.lower <= row.loss_km.upper <= row.loss_km.lower + 1e-9
    for row in where(rows, mechanism=REPORT_AMONG):
        share = least_variation(row.dummies) * row.parameter
        assert row.group_success.value == pytest.approx(0.5 + share * groups.total_variation / 2, abs=1e-4)
        (single,) = where(reports, parameter=row.parameter)
        assert row.loss_km.upper <= single.loss_km.upper
    (pair,) = where(rows, mechanism=PARTNER)
    p, q = partner_dummies(groups).lift(groups.distributions)
    assert pair.group_success.upper >= 0.5 + np.abs(p - q).sum() / 4
    assert pair.group_success.upper == pytest.approx(0.5, abs=1e-12)
    assert pair.loss_km.upper == 0
    assert 0.5 <= pair.cell_success < 1


def test_a_mechanism_for_one_half_of_the_users_reveals_groups_of_the_other(area):
    halves = area.halves(1)
    rows = transfer(halves, 1, (10,))["transfer"]
    for row in rows:
        if row.mechanism in (PARTNER, REPORT):
            mechanism = partner_dummies(halves[0]) if row.mechanism == PARTNER else best_report(halves[0])[0]
            p, q = mechanism.lift(halves[1].distributions)
            assert row.known_half == pytest.approx(0.5, abs=1e-12)
            assert row.other_half == pytest.approx(0.5 + np.abs(p - q).sum() / 4, abs=1e-9)
    assert rows[0].other_half == pytest.approx(0.5 + halves[1].total_variation / 2, abs=1e-9)
    assert all(row.other_half <= rows[0].other_half + 1e-9 for row in rows)


def test_claims_of_a_run(quick_run):
    reproduced = quick_run("distribution-privacy")
    claims = where(reproduced.claims, where="Tupling and the optimum")
    assert len(claims) == 5
    assert {claim.verdict for claim in claims[:3]} == {Judgement.FOLLOWS}
    assert all(claim.ours for claim in claims)
