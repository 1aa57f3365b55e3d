"""A sweep gives what single designs give, in order, whoever does the work."""

import numpy as np
import pytest

from sfumato.core import MetricPrivacy, Prior, Space, hamming
from sfumato.errors import InputError
from sfumato.optimal import design, sweep

SPACE = Space([(i, j) for j in range(3) for i in range(4)], [(i, j) for j in range(3) for i in range(4)], "km")
METRIC = SPACE.metric()
PRIORS = {
    "uniform": Prior.uniform(SPACE),
    "skewed": Prior.from_counts(SPACE, [9, 4, 0, 1, 0, 2, 7, 0, 0, 1, 3, 0]),
}


@pytest.mark.parametrize("processes", [1, 2])
def test_agrees_with_single_designs(processes):
    epsilons = [0.3, 0.6, 0.9]
    points = sweep(PRIORS, loss=hamming(SPACE), metric=METRIC, epsilons=epsilons, gap=1e-6, processes=processes)
    assert [(point.who, point.epsilon) for point in points] == [(who, e) for who in PRIORS for e in epsilons]
    for point in points:
        alone = design(
            PRIORS[point.who],
            loss=hamming(SPACE),
            guarantees=[MetricPrivacy(point.epsilon or 0.0, METRIC)],
            tie_break=False,
        )
        assert point.design is not None
        assert point.design.certificate.holds
        np.testing.assert_allclose(point.design.certificate.loss, alone.certificate.loss, rtol=3e-6)


def test_one_prior_is_shared_among_processes():
    points = sweep(
        {"uniform": PRIORS["uniform"]}, loss=METRIC, metric=METRIC, epsilons=[0.5, 1.0, 2.0], processes=2
    )
    assert [point.epsilon for point in points] == [0.5, 1.0, 2.0]
    losses = [point.design.certificate.loss for point in points if point.design is not None]
    assert losses == sorted(losses, reverse=True)


def test_failures_are_points_with_their_reason():
    points = sweep(
        {"uniform": PRIORS["uniform"]}, loss=METRIC, metric=METRIC, epsilons=[None], distortions=[0.5, 100.0]
    )
    assert [point.design is None for point in points] == [False, True]
    assert "sees no report" in points[1].reason
    assert points[0].distortion >= 0.5


def test_a_stop_ends_between_designs():
    seen: list[object] = []
    points = sweep(
        {"uniform": PRIORS["uniform"]},
        loss=METRIC,
        metric=METRIC,
        epsilons=[0.5, 1.0, 2.0],
        stop=lambda: len(seen) >= 1,
        progress=seen.append,
    )
    assert len(points) == 1


def test_nothing_to_do_is_refused():
    with pytest.raises(InputError, match="nothing to ask"):
        sweep(PRIORS, loss=METRIC, metric=METRIC, epsilons=[None])
    with pytest.raises(InputError, match="no prior"):
        sweep({}, loss=METRIC, metric=METRIC, epsilons=[1.0])
