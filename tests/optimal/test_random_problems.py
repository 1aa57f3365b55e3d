"""Random small problems, many degenerate: each ends in a proved design or in an error about the request."""

import numpy as np
import pytest

from sfumato.core import DistortionPrivacy, Guarantee, Loss, Metric, MetricPrivacy, Prior, Space, blind_error
from sfumato.errors import InfeasibleError, InputError
from sfumato.optimal import Design, Status, design, maximise_distortion
from sfumato.proofs import distortion_below, expected_loss_above

from ..proofs import exact

PROBLEMS = 500
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.MetricWarning")


def _prior(rng: np.random.Generator, space: Space) -> Prior:
    n = len(space)
    weights = {
        0: rng.random(n),
        1: rng.random(n) * (rng.random(n) < 0.5),
        2: 10.0 ** rng.uniform(-320, 0, n),  # subnormal ones among them
        3: 10.0 ** rng.uniform(-20, 0, n),
        4: np.eye(n)[rng.integers(n)],
    }[int(rng.integers(5))]
    return Prior.from_counts(space, weights if weights.sum() > 0 else np.ones(n))


def _metric(rng: np.random.Generator, n: int) -> Metric:
    x = rng.random((n, 2)) * 10.0 ** rng.integers(-2, 2)
    d = np.hypot(*(x[:, None] - x[None]).T)
    groups = rng.integers(0, 2, n)
    kind = int(rng.integers(7))
    found = {
        0: d,
        1: np.round(d),  # some secrets merge
        2: np.zeros((n, n)),  # all do
        3: d * 10.0 ** rng.integers(-13, -5),
        4: np.where(d > np.median(d), np.inf, d),
        5: np.ones((n, n)),
        6: np.where(groups[:, None] == groups, d, np.inf),
    }[kind]
    np.fill_diagonal(found, 0.0)
    return Metric((found + found.T) / 2, "km")


def _loss(rng: np.random.Generator, n: int, m: int) -> Loss:
    plain = rng.random((n, m))
    found = {
        0: plain,
        1: plain * 10.0 ** rng.uniform(-12, 12, (n, m)),
        2: np.zeros((n, m)),
        3: np.round(3 * plain),
        4: plain * 10.0 ** rng.integers(-300, 300),
        5: plain - 0.5,
    }[int(rng.integers(6))]
    return Loss(found, "km")


def _distance(rng: np.random.Generator, n: int) -> Loss:
    x = rng.random(n)
    found = rng.random((rng.integers(1, 9), n)) if rng.random() < 0.5 else np.abs(x[:, None] - x)
    return Loss(found * 10.0 ** rng.integers(-300, 300) if rng.random() < 0.15 else found, "km")


def _ended(seed: int) -> Design | None:
    """Solve a random problem; None where an error says why it cannot be."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 9, 2))
    space = Space(range(n))
    reports = space if rng.random() < 0.4 else Space([f"report {k}" for k in range(m)])
    prior, loss, distance = _prior(rng, space), _loss(rng, n, len(reports)), _distance(rng, n)
    guarantees: list[Guarantee] = [
        MetricPrivacy(10.0 ** rng.uniform(-3, 1.5), _metric(rng, n)) for _ in range(rng.integers(3))
    ]
    costs = prior.probabilities @ loss.array
    try:
        if rng.random() < 0.2:
            least = float(prior.probabilities @ loss.array.min(axis=1))
            share = rng.choice([1e-9, 0.01, 0.5, 0.99, 1.0, 1.5])
            limit = least + share * (float(costs.min()) - least)
            found = maximise_distortion(
                prior, loss=loss, distance=distance, max_loss=limit, guarantees=guarantees, observables=reports
            )
            assert expected_loss_above(found.mechanism, prior, loss) <= limit
            return found
        if rng.random() < 0.35 or not guarantees:
            most = blind_error(prior.probabilities, distance.array)
            share = rng.choice([0.0, 0.1, 0.5, 0.9, 0.999, 0.9999999, 1.1])
            guarantees.append(DistortionPrivacy(share * most, distance))
        objective = "expected" if rng.random() < 0.65 else "worst-case"
        return design(prior, loss=loss, guarantees=guarantees, objective=objective, observables=reports)
    except (InfeasibleError, InputError):
        return None


def _check(seed: int) -> bool:
    """Hold a random problem's design to what was asked; return whether it was solved to the wanted gap."""
    found = _ended(seed)
    if found is None:
        return True
    for guarantee in found.problem.guarantees:
        if isinstance(guarantee, MetricPrivacy):
            assert exact.private(found.mechanism, guarantee.metric.array, guarantee.epsilon)
        elif isinstance(guarantee, DistortionPrivacy):
            assert distortion_below(found.mechanism, found.problem.prior, guarantee.distance) >= guarantee.minimum
    assert found.certificate.holds
    assert np.isfinite(found.certificate.value)
    return found.status is Status.OPTIMAL


@pytest.mark.slow
def test_they_end_in_a_proved_design_or_in_an_error_about_the_request():
    assert sum(map(_check, range(PROBLEMS))) >= 0.97 * PROBLEMS


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("objective", ["expected", "worst-case"])
@pytest.mark.parametrize("distance", [0.0, 1e-11])
def test_secrets_that_merge_get_the_best_single_report(n, objective, distance):
    space = Space(range(n))
    metric = Metric(np.where(np.eye(n) == 1, 0.0, distance))
    loss = np.arange(n * 3.0).reshape(n, 3)[:, ::-1] + 1.0
    found = design(
        Prior.uniform(space),
        loss=loss,
        guarantees=[MetricPrivacy(1.0, metric)],
        objective=objective,
        observables=Space("abc"),
    )
    best = loss.mean(axis=0).min() if objective == "expected" else loss.max(axis=0).min()
    assert found.status is Status.OPTIMAL
    assert found.certificate.value == pytest.approx(best, rel=1e-6)
    assert found.certificate.epsilon_upper <= 1.0


@pytest.mark.parametrize("mass", [5e-324, 1e-310, 1e-300, 1e-100])
def test_tiny_masses_change_nothing(mass):
    space = Space(range(4), [0.0, 1.0, 2.0, 4.0], "km")
    steps = space.metric("euclidean")
    found = design(Prior(space, [0.4, 0.6, mass, 0.0]), loss=steps, guarantees=[MetricPrivacy(1.0, steps)])
    plain = design(Prior(space, [0.4, 0.6, 0.0, 0.0]), loss=steps, guarantees=[MetricPrivacy(1.0, steps)])
    assert found.status is Status.OPTIMAL
    assert found.certificate.value == pytest.approx(plain.certificate.value, rel=1e-6)


def test_a_limit_next_to_the_least_loss_says_what_is_possible():
    space = Space(range(3), [0.0, 1.0, 2.0], "km")
    steps = space.metric("euclidean")
    private = MetricPrivacy(1.0, steps)
    prior = Prior(space, [0.2, 0.5, 0.3])
    least = design(prior, loss=steps, guarantees=[private]).certificate
    with pytest.raises(InfeasibleError, match=r"no mechanism .* lose"):
        maximise_distortion(prior, loss=steps, max_loss=least.bound * (1 - 1e-5), guarantees=[private])
    near = maximise_distortion(prior, loss=steps, max_loss=least.loss * (1 + 1e-5), guarantees=[private])
    assert near.certificate.loss <= least.loss * (1 + 1e-5)
