"""A sweep gives what single designs give, in order, whoever does the work."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import MetricPrivacy, Prior, Space, hamming
from sfumato.errors import InputError
from sfumato.optimal import design, sweep
from sfumato_papers.invented_city import invented_city

SPACE = Space([(i, j) for j in range(3) for i in range(4)], [(i, j) for j in range(3) for i in range(4)], "km")
METRIC = SPACE.metric()
PRIORS = {
    "uniform": Prior.uniform(SPACE),
    "skewed": Prior.from_counts(SPACE, [9, 4, 0, 1, 0, 2, 7, 0, 0, 1, 3, 0]),
}


def test_agrees_with_single_designs():
    epsilons = [0.3, 0.9]
    points = sweep(PRIORS, loss=hamming(SPACE), metric=METRIC, epsilons=epsilons, gap=1e-6)
    assert [(point.name, point.epsilon) for point in points] == [(who, e) for who in PRIORS for e in epsilons]
    for point in points:
        alone = design(
            PRIORS[point.name],
            loss=hamming(SPACE),
            guarantees=[MetricPrivacy(point.epsilon or 0.0, METRIC)],
            tie_break=False,
        )
        assert point.design is not None
        assert point.design.certificate.holds
        np.testing.assert_allclose(point.loss, alone.certificate.loss, rtol=3e-6)


@pytest.mark.slow
def test_one_prior_is_shared_among_processes():
    even = {"uniform": PRIORS["uniform"]}
    one, two = (
        sweep(even, loss=METRIC, metric=METRIC, epsilons=[0.5, 1.0, 2.0], processes=count) for count in (1, 2)
    )
    assert [point.epsilon for point in two] == [0.5, 1.0, 2.0]
    losses = [point.loss for point in two]
    assert losses == sorted(losses, reverse=True)
    assert losses == pytest.approx([point.loss for point in one], rel=3e-6)


def test_failures_are_points_with_their_reason():
    points = sweep(
        {"uniform": PRIORS["uniform"]}, loss=METRIC, metric=METRIC, epsilons=[None], distortions=[0.5, 100.0]
    )
    assert [point.design is None for point in points] == [False, True]
    assert "without a report" in points[1].reason
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


@pytest.mark.slow
def test_on_a_lattice_each_prior_has_its_loss_and_its_attacker():
    visits = invented_city(users=20)
    lattice = sf.Lattice.covering(visits, "2.5 km", kind="triangular")
    people = {str(name): visits.of_user(name) for name in list(visits.users())[:2]}
    priors = {name: Prior.from_visits(lattice, mine) for name, mine in people.items()}
    losses = {name: lattice.loss(mine) for name, mine in people.items()}
    blind = {
        name: sf.PlaceDistortion(0, lattice, mine).attack(
            sf.Mechanism(np.ones((len(lattice), 1)), lattice), priors[name]
        )
        for name, mine in people.items()
    }
    least = 0.5 * min(found.lower for found in blind.values()) / 1000
    points = sweep(
        priors,
        loss=losses,
        epsilons=[1.0],
        distortions=[None, least],
        visits=people,
        medians=True,
        processes=2,
    )
    assert [point.name for point in points] == [name for name in people for _ in range(2)]
    for point in points:
        assert point.true_point
        assert point.design is not None, point.reason
        assert point.design.certificate.holds
        asked = sf.CoordinatePrivacy(1.0)
        vertices = sf.design(
            priors[point.name], loss=losses[point.name], guarantees=asked, method="table", gap=1e-4
        )
        if point.minimum is None:  # reports at medians only gain
            assert point.loss <= vertices.certificate.loss
            assert not point.without_noise
        else:
            assert point.distortion >= least
            assert point.without_noise == "it gives a guarantee per metre, and no other"
            assert point.design.has_program
            assert least <= point.design.certificate.bound <= point.loss <= vertices.certificate.loss
        assert str(point.design.guarantees[0]) == str(asked)


def test_what_a_lattice_needs_is_asked_for():
    visits = invented_city(users=20)
    lattice = sf.Lattice.covering(visits, "2.5 km")
    priors = {"everyone": Prior.from_visits(lattice, visits)}
    loss = lattice.loss(visits)
    with pytest.raises(InputError, match="no metric"):
        sweep(priors, loss=loss, epsilons=[1.0])
    with pytest.raises(InputError, match="no metric"):
        sweep(PRIORS, loss=METRIC, epsilons=[1.0], visits=visits)
    with pytest.raises(InputError, match="not on places"):
        sweep(PRIORS, loss=METRIC, metric=METRIC, epsilons=[1.0], visits=visits)
    with pytest.raises(InputError, match="there are none"):
        sweep(PRIORS, loss=METRIC, metric=METRIC, epsilons=[1.0], medians=True)
    with pytest.raises(InputError, match="'everyone' is missing"):
        sweep(priors, loss={"nobody": loss}, epsilons=[1.0], visits=visits)


def test_nothing_to_do_is_refused():
    with pytest.raises(InputError, match="no prior, or no epsilon"):
        sweep(PRIORS, loss=METRIC, metric=METRIC, epsilons=[None])
    with pytest.raises(InputError, match="no prior"):
        sweep({}, loss=METRIC, metric=METRIC, epsilons=[1.0])
