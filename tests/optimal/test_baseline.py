"""Unfinished designs: never worse than closed forms, and bounded by a problem with fewer secrets."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal import Status
from sfumato.optimal.baseline import Baseline, coarse_prices, fallback
from sfumato.optimal.problem import least_loss
from sfumato.optimal.solver import Answer, Control, Progress, Solver, objective_of, proved_bound

PLANE = sf.geo.Projection(48.85, 2.35)
FOREVER = Control(1e-6, math.inf, lambda: False, None)


def city(columns, rows, epsilon, seed=0):
    """A grid of cells of 1 km with a skewed prior."""
    rng = np.random.default_rng(seed)
    cells = sf.Grid(columns, rows, (1000.0, 1000.0), (0.0, 0.0), PLANE.crs)
    mass = rng.gamma(0.3, size=len(cells)) + 1e-6
    distance = cells.metric("euclidean", "km")
    return sf.Prior(cells, mass / mass.sum()), distance, sf.MetricPrivacy(f"{epsilon}/km", distance)


def simple_losses(prior, distance, promise):
    """Losses of mechanisms that are made and remapped here, by the sums of their definitions."""
    loss, p = distance.array, prior.probabilities
    noise = sf.mechanisms.planar_geometric(prior.space, promise.epsilon / 1000).matrix
    exponential = np.exp(-promise.epsilon * loss / 2)
    exponential /= exponential.sum(axis=1, keepdims=True)
    yield float((p @ loss).min())
    for seen in (noise, exponential):
        yield float(((p[:, None] * seen).T @ loss).min(axis=1).sum())


class Shuffled(Solver):
    """Stops at once with a constant report, or with reports of the exponential mechanism in another order."""

    name = "shuffled"

    def __init__(self, share):
        self.share = share

    def answer(self, problem, control, start=None):
        n, m = problem.shape
        x = np.exp(-0.49 * problem.exponents)
        x = x / x.sum(axis=1, keepdims=True) @ np.eye(n)[np.random.default_rng(0).permutation(n)]
        x = self.share * x + (1 - self.share) / m
        return Answer(x, 0.0, objective_of(problem, x), -math.inf, Status.TIME_LIMIT, (), self.name)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("solver", [None, Shuffled(1.0), Shuffled(0.5)], ids=["stopped", "shuffled", "mixed"])
def test_an_unfinished_design_is_never_worse_than_simple_mechanisms(epsilon, solver):
    prior, distance, promise = city(6, 5, epsilon)
    made = sf.design(
        prior, loss=distance, guarantees=promise, solver=solver, stop=lambda: solver is None, method="table"
    )
    assert made.certificate.holds
    assert made.certificate.loss <= min(simple_losses(prior, distance, promise)) * (1 + 1e-6)
    best = sf.design(prior, loss=distance, guarantees=promise, method="table", tie_break=False)
    assert made.certificate.bound <= best.certificate.loss * (1 + 1e-9)
    assert made.certificate.loss >= best.certificate.bound * (1 - 1e-9)


def test_reports_of_an_unfinished_answer_are_moved_to_where_they_cost_least():
    prior, distance, promise = city(5, 4, 3.0)
    problem = least_loss(prior, distance, promise, "expected", None)
    worse = Shuffled(1.0).answer(problem, FOREVER)
    best = Baseline(problem, FOREVER).best(worse)
    by_hand = (prior.probabilities[:, None] * worse.matrix).T @ distance.array
    assert best.value <= by_hand.min(axis=1).sum() * (1 + 1e-12) < worse.value
    assert best.status is Status.TIME_LIMIT


@pytest.mark.parametrize(
    ("objective", "minimum"), [("worst-case", None), ("expected", "1 km"), ("distortion", None)]
)
def test_other_objectives_have_a_floor_too(objective, minimum):
    prior, distance, promise = city(4, 4, 0.7)
    guarantees = [promise] if minimum is None else [promise, sf.DistortionPrivacy(minimum, distance)]
    if objective == "distortion":
        made = sf.optimal.maximise_distortion(
            prior, loss=distance, max_loss="1.2 km", distance=distance, guarantees=guarantees, stop=lambda: True
        )
        assert made.certificate.loss <= 1.2
        assert made.certificate.value > 0
        return
    made = sf.design(prior, loss=distance, guarantees=guarantees, objective=objective, stop=lambda: True)
    constant = distance.array.max(axis=0) if objective == "worst-case" else prior.probabilities @ distance.array
    assert made.certificate.holds
    assert made.certificate.value <= constant.min() * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
def test_a_problem_with_fewer_secrets_bounds_the_whole(epsilon):
    prior, distance, promise = city(12, 10, epsilon, seed=3)
    problem = least_loss(prior, distance, promise, "expected", None)
    plain = fallback(problem, Status.TIME_LIMIT)
    prices = coarse_prices(problem, FOREVER)
    assert plain is not None
    assert prices is not None
    bound = proved_bound(problem, prices)
    best = sf.design(prior, loss=distance, guarantees=promise, method="table", tie_break=False)
    assert plain.bound < bound <= best.certificate.loss
    assert bound > 0.5 * best.certificate.loss


def test_a_coarser_problem_is_only_tried_where_its_bound_is_one():
    prior, distance, promise = city(4, 4, 1.0)
    few = least_loss(prior, distance, promise, "expected", None)
    assert coarse_prices(few, FOREVER) is None
    prior, distance, promise = city(12, 10, 1.0)
    assert coarse_prices(least_loss(prior, distance, promise, "worst-case", None), FOREVER) is None
    whole = least_loss(prior, distance, promise, "expected", None)
    assert coarse_prices(whole, replace(FOREVER, stop=lambda: True)) is None


def test_progress_begins_at_a_constant_report_and_takes_what_is_better_later():
    prior, distance, promise = city(12, 10, 0.5)
    problem = least_loss(prior, distance, promise, "expected", None)
    lines: list[Progress] = []
    baseline = Baseline(problem, replace(FOREVER, progress=lines.append))
    for seconds in (0.1, 0.6, 2.5, 3.0):
        baseline.watch(Progress(1, 0, math.inf, -math.inf, math.inf, seconds, coarse=30))
    simple = min(simple_losses(prior, distance, promise))
    constant = float((prior.probabilities @ distance.array).min())
    assert [line.value for line in lines] == pytest.approx([constant, simple, simple, simple], rel=1e-6)
    assert lines[0].bound == lines[1].bound < lines[2].bound == lines[3].bound < simple
    assert [baseline.lift(line) for line in lines] == lines


def test_values_at_one_place_have_no_noise():
    space = sf.Space("ab", [[1.0, 2.0], [1.0, 2.0]])
    made = sf.design(
        sf.Prior.uniform(space),
        loss=sf.hamming(space),
        guarantees=sf.MetricPrivacy(1.0, sf.hamming(space)),
        objective="worst-case",
        stop=lambda: True,
    )
    assert made.certificate.holds
    assert made.certificate.value <= 1.0
