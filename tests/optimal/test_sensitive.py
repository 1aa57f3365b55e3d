"""The least leak of a sensitive value: golden values, closed forms, a second solver, and what must be refused."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from sfumato.core import Mechanism, Space, hamming
from sfumato.errors import InfeasibleError, InputError, UnitError
from sfumato.geo import Grid, synthetic_city
from sfumato.learning import Pairs
from sfumato.optimal import Progress, SensitiveProblem, Status, least_information, least_vulnerability
from sfumato.optimal.extensions import sensitive as least

from ..proofs import exact

BOTH = pytest.mark.parametrize("solve", [least_vulnerability, least_information])
HALF_DIAGONAL_M = 150 * math.sqrt(2)


def entropy_bits(*p):
    return -sum(x * math.log2(x) for x in p if x > 0)


def square(points, step=50.0, half=6):
    """Four people around the corners of a 300 m square, discs of 45 m, reports on a grid; metres."""
    corners = np.array([(x, y) for x in (-150, 150) for y in (-150, 150)], dtype=float)
    i = np.arange(points) + 0.5
    radius, angle = 45 * np.sqrt(i / points) * (points > 1), math.pi * (1 + math.sqrt(5)) * i
    places = (corners[:, None] + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])).reshape(-1, 2)
    axis = np.arange(-half, half + 1) * step
    reports = np.array([(x, y) for x in axis for y in axis])
    joint = np.kron(np.eye(4), np.ones(points)) / (4 * points)
    distance = np.linalg.norm(places[:, None] - reports, axis=2)
    return joint, Space(range(len(places))), distance, Space(range(len(reports)))


def random_case(seed, *, alone=False):
    """A joint distribution, a loss and a bound; the first secret never occurs, the last report loses most."""
    rng = np.random.default_rng(seed)
    k, n, m = rng.integers(2, 5), rng.integers(2, 9), rng.integers(2, 9)
    joint = rng.dirichlet(np.full(k * n, 0.5)).reshape(k, n)
    if alone:
        joint[np.arange(k)[:, None] != rng.integers(k, size=n)] = 0.0
    joint[:, 0] = 0.0
    if joint.sum() == 0:
        joint[0, -1] = 1.0
    joint /= joint.sum()
    loss = rng.integers(0, 4, (n, m)).astype(float) if seed % 2 else rng.random((n, m))
    loss = np.column_stack([loss, np.full(n, 9.0)])
    weights = joint.sum(axis=0)
    low, high = weights @ loss.min(axis=1), (weights @ loss).min()
    return joint, loss, low + (high - low) * rng.uniform(0.02, 1.0) + 1e-6


def solved(solve, case, **options):
    joint, loss, bound = case
    return solve(
        joint, Space(range(loss.shape[0])), loss, bound, observables=Space(range(loss.shape[1])), **options
    )


def by_highs(joint, loss, bound):
    """The least vulnerability as a plain linear program, by HiGHS' simplex method."""
    k, n = joint.shape
    m = loss.shape[1]
    cost = np.concatenate([np.zeros(n * m), np.ones(m)])
    masses = sparse.hstack([sparse.kron(joint, sparse.eye(m)), -sparse.kron(np.ones((k, 1)), sparse.eye(m))])
    spent = sparse.hstack([sparse.csr_array((joint.sum(axis=0)[:, None] * loss).reshape(1, -1)), np.zeros((1, m))])
    rows = sparse.hstack([sparse.kron(sparse.eye(n), np.ones((1, m))), np.zeros((n, m))])
    found = linprog(
        cost,
        A_ub=sparse.vstack([masses, spent]).tocsr(),
        b_ub=np.append(np.zeros(k * m), bound),
        A_eq=rows.tocsr(),
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("bound_m", [5, 60, 100, 150, 173, 200, 212.1, 212.2, 215, 270])
def test_golden_four_points_are_hidden_by_the_coin(bound_m):
    joint, secrets, distance, reports = square(1)
    found = least_vulnerability(joint, secrets, distance, bound_m, observables=reports)
    best = 0.75 * min(1.0, bound_m / HALF_DIAGONAL_M)
    assert found.status is Status.OPTIMAL
    assert found.bayes_error == pytest.approx(best, abs=1e-6)
    assert found.bayes_error <= best + 1e-15
    assert found.lower_bound <= 1 - best + 1e-15
    assert found.loss <= bound_m


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("bound_m", "golden"), [(100, 0.371), (150, 0.555), (173, 0.633), (200, 0.716), (212.2, 0.749), (215, 0.75)]
)
def test_golden_clouds(bound_m, golden):
    joint, secrets, distance, reports = square(16)
    found = least_vulnerability(joint, secrets, distance, bound_m, observables=reports)
    assert found.status is Status.OPTIMAL
    # The golden table has three digits, and other points in its discs.
    assert found.bayes_error == pytest.approx(golden, abs=2e-3)
    assert found.bayes_error <= 0.75
    if bound_m in (173, 200):
        assert round(found.bayes_error, 3) == golden


@pytest.mark.slow
@pytest.mark.parametrize("bound_m", [173, 212.13203])
def test_256_places_and_676_reports_take_few_rounds(bound_m):
    joint, secrets, distance, reports = square(64, step=25.0, half=12)
    for solve in (least_vulnerability, least_information):
        found = solve(joint, secrets, distance, bound_m, observables=reports)
        assert found.status is Status.OPTIMAL
        assert len(found.log) < 150
        if solve is least_vulnerability:
            coarse = square(64)
            rough = solve(coarse[0], coarse[1], coarse[2], bound_m, observables=coarse[3])
            assert rough.lower_bound >= found.lower_bound - 1e-12  # fewer reports hide no more


@pytest.mark.slow
def test_hundreds_of_secrets_and_reports():
    rng = np.random.default_rng(0)
    prior, places = rng.dirichlet(np.full(500, 0.5)), rng.random((500, 2))
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    found = least_information(np.diag(prior), Space(range(500)), distance, 0.1)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("rate", [0.0, 1e-7, 0.01, 0.1, 0.3, 0.499])
def test_a_fair_bit_has_the_known_rate_distortion_function(rate):
    bit = Space([0, 1])
    found = least_information(np.eye(2) / 2, bit, hamming(bit), rate)
    best = 1 - entropy_bits(rate, 1 - rate)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= best + 1e-15
    assert best <= found.value + 1e-15
    assert found.value == pytest.approx(best, abs=2e-6)


@pytest.mark.parametrize(("p", "rate"), [(0.2, 0.05), (0.2, 0.19), (0.4, 0.3), (0.01, 0.005)])
def test_a_loaded_bit(p, rate):
    bit = Space([0, 1])
    found = least_information(np.diag([p, 1 - p]), bit, hamming(bit), rate)
    assert found.value == pytest.approx(entropy_bits(p, 1 - p) - entropy_bits(rate, 1 - rate), abs=2e-6)


@pytest.mark.parametrize("size", [3, 8])
@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_even_categories_under_hamming_loss(size, rate):
    space = Space(range(size))
    joint = np.eye(size) / size
    told = least_information(joint, space, hamming(space), rate)
    closed = math.log2(size) - entropy_bits(rate, 1 - rate) - rate * math.log2(size - 1)
    assert told.value == pytest.approx(closed, abs=3e-6)
    # Whoever guesses the report is wrong as often as it is.
    guessed = least_vulnerability(joint, space, hamming(space), rate)
    assert guessed.bayes_error == pytest.approx(rate, abs=1e-6)
    assert guessed.bayes_error <= rate


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_a_second_solver_finds_the_same_vulnerability(seed, alone):
    case = random_case(seed, alone=alone)
    found, reference = solved(least_vulnerability, case), by_highs(*case)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= reference + 1e-8
    assert found.value >= reference - 1e-8
    assert found.value == pytest.approx(reference, rel=2e-6)


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_the_information_of_a_secret_itself_is_its_rate_distortion_function(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 7, size=2)
    prior, loss, price = rng.dirichlet(np.ones(n)), rng.random((n, m)), rng.uniform(0.5, 6)
    shares = np.full(m, 1.0 / m)
    decay = np.exp(-price * loss)
    for _ in range(5_000):  # Blahut and Arimoto
        shares = shares * (prior / (decay @ shares) @ decay)
    rows = decay * shares / (decay @ shares)[:, None]
    spent = float(prior @ (rows * loss).sum(axis=1))
    assume(spent > prior @ loss.min(axis=1) + 1e-6)
    told = Mechanism(rows / rows.sum(axis=1, keepdims=True), Space(range(n)), Space(range(m)))
    logs = np.log2(np.maximum(told.matrix, 1e-300) / np.maximum(prior @ told.matrix, 1e-300))
    reference = float((prior[:, None] * told.matrix * logs).sum())
    found = solved(least_information, (np.diag(prior), loss, spent))
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= reference + 1e-9
    assert found.value <= reference + 2e-6 * max(reference, 1e-2)


@BOTH
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), alone=st.booleans())
def test_no_other_mechanism_within_the_loss_tells_less(solve, seed, alone):
    joint, loss, bound = case = random_case(seed, alone=alone)
    found = solved(solve, case)
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-6
    rng = np.random.default_rng(seed)
    weights = joint.sum(axis=0)
    nearest = np.eye(loss.shape[1])[loss.argmin(axis=1)]
    for spread in (0.02, 0.2, 1.0, 5.0):
        rows = found.mechanism.matrix ** rng.uniform(0.5, 1.5) + 1e-3 * rng.dirichlet(
            np.full(loss.shape[1], spread), len(loss)
        )
        rows /= rows.sum(axis=1, keepdims=True)
        spent, least_loss = (float(weights @ (p * loss).sum(axis=1)) for p in (rows, nearest))
        if spent > bound:
            share = (spent - bound) / (spent - least_loss) if spent > least_loss else 1.0
            rows = (1 - share) * rows + share * nearest
        reached = joint @ rows
        if solve is least_vulnerability:
            leak = reached.max(axis=0).sum()
        else:
            even = joint.sum(axis=1)[:, None] * reached.sum(axis=0)
            seen = reached > 0
            leak = (reached[seen] * np.log2(reached[seen] / even[seen])).sum()
        assert leak >= found.lower_bound - 1e-9


@BOTH
def test_brute_force_on_two_places(solve):
    joint, loss, bound = np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([[0.0, 1.0], [2.0, 0.0]]), 0.35
    a, b = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801))  # p(0|0) and p(0|1)
    reached = np.stack([joint[:, :1, None] * a.ravel() + joint[:, 1:, None] * b.ravel()], axis=0)[0, :, 0]
    other = joint.sum(axis=1)[:, None] - reached
    if solve is least_vulnerability:
        leak = reached.max(axis=0) + other.max(axis=0)
    else:
        leak = np.zeros(reached.shape[1])
        for masses in (reached, other):
            total = np.maximum(masses.sum(axis=0), 1e-300)
            leak += (masses * np.log2(np.maximum(masses / (0.5 * total), 1e-300))).sum(axis=0)
    allowed = (0.5 * (1 - a) + 0.5 * 2 * b).ravel() <= bound
    best = float(leak[allowed].min())
    found = solved(solve, (joint, loss, bound))
    assert found.lower_bound <= best + 1e-12
    assert found.value == pytest.approx(best, abs=2e-3)


@BOTH
def test_more_loss_never_leaks_more(solve):
    joint, loss, _ = random_case(12)
    weights = joint.sum(axis=0)
    low, high = float(weights @ loss.min(axis=1)), float((weights @ loss).min())
    found = [solved(solve, (joint, loss, low + share * (high - low))) for share in np.linspace(1e-9, 1.1, 12)]
    for before, after in pairwise(found):
        assert after.lower_bound <= before.value
        assert after.value <= before.value * (1 + 2e-6) + 1e-8
    assert found[-1].bayes_error == pytest.approx(1 - joint.sum(axis=1).max(), abs=1e-12)
    assert found[-1].information_bits <= 1e-12


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_the_least_loss_itself_keeps_what_freedom_ties_leave(solve, seed):
    joint, _, _ = random_case(seed)
    loss = np.random.default_rng(seed).integers(0, 2, (joint.shape[1], 5)).astype(float)
    loss[np.arange(len(loss)), np.arange(len(loss)) % 5] = 0.0  # something loses nothing, often several
    found = solved(solve, (joint, loss, 0.0))
    assert found.loss == 0.0
    assert found.status is Status.OPTIMAL
    if solve is least_vulnerability:
        assert found.value == pytest.approx(by_highs(joint, loss, 0.0), rel=2e-6)


@BOTH
def test_a_secret_that_never_occurs_and_a_report_that_nobody_needs(solve):
    joint, loss, bound = random_case(4)
    found = solved(solve, (joint, loss, bound))
    matrix = found.mechanism.matrix
    assert matrix[0] == pytest.approx(joint.sum(axis=0) @ matrix, abs=1e-12)
    assert matrix[:, -1].max() < 1e-6  # it loses 9, where others lose at most 3
    assert found.problem.joint[:, 0].sum() == 0


@BOTH
def test_an_impossible_class_changes_nothing(solve):
    joint, loss, bound = random_case(7)
    more = np.vstack([joint, np.zeros(joint.shape[1])])
    with_it, without = solved(solve, (more, loss, bound)), solved(solve, (joint, loss, bound))
    assert with_it.value == pytest.approx(without.value, rel=3e-6)
    assert with_it.strategy.shape == (len(more), loss.shape[1])


@BOTH
def test_one_class_hides_itself(solve):
    found = solved(solve, (np.array([[0.25, 0.75]]), np.array([[0.0, 1.0], [1.0, 0.0]]), 0.0))
    assert found.status is Status.OPTIMAL
    assert found.loss == 0
    assert found.information_bits <= 1e-12


@BOTH
def test_too_small_a_bound_is_refused_with_the_least_loss(solve):
    joint, loss, _ = random_case(8)
    least_loss = float(joint.sum(axis=0) @ loss.min(axis=1))
    with pytest.raises(InfeasibleError, match="least possible with them is") as error:
        solved(solve, (joint, loss, least_loss - 0.01))
    named = float(error.value.hint.split("allow at least ")[1].split(",")[0])
    assert named == pytest.approx(least_loss, rel=1e-9)
    assert solved(solve, (joint, loss, named)).loss <= named


@BOTH
def test_what_cannot_be_proved_is_not_claimed(solve):
    # The least loss is not a float: whether a mechanism keeps its rounded value cannot be seen in floats.
    joint, loss = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([[0.1, 0.7], [0.7, 0.3]])
    bound = float(joint.sum(axis=0) @ loss.min(axis=1))
    try:
        assert solved(solve, (joint, loss, bound)).loss <= bound
    except InfeasibleError as error:
        named = float(error.problem.rsplit("(", 1)[1].rstrip(")."))
        assert named == pytest.approx(bound, rel=1e-12)
        assert solved(solve, (joint, loss, named)).loss <= named


@BOTH
def test_time_limit_stop_and_progress(solve):
    joint, loss, bound = case = random_case(2)
    steps: list[Progress] = []
    whole = solved(solve, case, progress=steps.append)
    assert tuple(steps) == whole.log
    assert len(steps) > 3
    for before, after in pairwise(steps):
        assert after.value <= before.value
        assert after.bound >= before.bound
        assert after.seconds >= before.seconds
    hurried = solved(solve, case, time_limit=1e-9)
    assert hurried.status is Status.TIME_LIMIT
    stopped = solved(solve, case, stop=lambda: True)
    assert stopped.status is Status.INTERRUPTED
    for partial in (hurried, stopped):
        assert partial.loss <= bound
        assert exact.expected(partial.mechanism, _prior(joint), loss) <= bound
        assert partial.lower_bound <= whole.value
        assert partial.value >= whole.lower_bound


@BOTH
def test_the_steps_are_never_trusted(solve, monkeypatch):
    case = random_case(6)
    honest = solved(solve, case)
    rng = np.random.default_rng(1)

    def drunk(self):
        self.y = rng.random(self.y.shape)
        self.guesses = rng.exponential(size=self.guesses.shape)
        self.price = float(rng.exponential())

    name = "VulnerabilitySteps" if solve is least_vulnerability else "InformationSteps"
    monkeypatch.setattr(getattr(least, name), "advance", drunk)
    found = solved(solve, case)
    assert found.status is Status.INACCURATE
    assert found.loss <= case[2]
    assert found.lower_bound <= honest.value
    assert found.value >= honest.lower_bound


def test_units_are_understood():
    space = Space(range(2), [0.0, 3.0], "km")
    found = least_vulnerability(np.eye(2) / 2, space, space.metric("euclidean"), "600 m")
    assert found.problem.max_loss == pytest.approx(0.6)
    assert found.bayes_error == pytest.approx(0.2, abs=1e-6)
    assert "600 m" in repr(found.problem)
    assert "OPTIMAL" in repr(found)
    with pytest.raises(UnitError):
        least_vulnerability(np.eye(2) / 2, space, space.metric("euclidean"), "6 h")


def test_what_is_no_problem_is_refused():
    bit = Space([0, 1])
    loss = hamming(bit)
    with pytest.raises(InputError, match="negative at class 0, secret 1"):
        least_information([[0.6, -0.1], [0, 0.5]], bit, loss, 0.1)
    with pytest.raises(InputError, match=r"sums to 0\.9"):
        least_information([[0.4, 0], [0, 0.5]], bit, loss, 0.1)
    with pytest.raises(InputError, match="shape"):
        least_information(np.ones((2, 3)) / 6, bit, loss, 0.1)
    with pytest.raises(InputError, match="the objective"):
        SensitiveProblem(np.eye(2) / 2, bit, loss, 0.1, "secrecy")
    with pytest.raises(InputError, match="gap"):
        least_information(np.eye(2) / 2, bit, loss, 0.1, gap=0)
    with pytest.raises(InputError, match="time limit"):
        least_information(np.eye(2) / 2, bit, loss, 0.1, time_limit=0)


def _prior(joint):
    class Weights:
        probabilities = joint.sum(axis=0)

    return Weights()


def test_many_people_at_few_places_are_hidden_to_a_small_gap_though_rounding_spoils_steps():
    city = synthetic_city()
    cells = Grid.covering(city, shape=(12, 9))
    people = Pairs.of_visits(city, cells, most=20).split(0.8, seed=1)[0]
    design = least_vulnerability(people.joint(cells), cells, people.loss(cells), 600.0, gap=1e-6)
    assert design.status.name == "OPTIMAL"
    assert design.gap <= 1e-6
