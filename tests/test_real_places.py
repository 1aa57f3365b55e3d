"""The main job on real check-ins: a population in Paris and one person in New York."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal import Status

PARIS = "48.8286,2.2855,48.8798,2.3909"


def paris(folder):
    visits = sf.read_visits(folder / "gowalla_paris.parquet")
    city = sf.Grid.covering(visits, shape=(8, 6), region=PARIS)
    return sf.Prior.from_visits(city, visits)


def one_person(folder):
    """The person of most check-ins, on 7 x 7 cells over the middle of their places."""
    everyone = sf.read_visits(folder / "foursquare_nyc.parquet")
    person = next(iter(everyone.users()))
    visits = everyone.of_user(person)
    city = sf.Grid.covering(visits, shape=(7, 7), region=visits.region(trim=0.05))
    return sf.Prior.from_visits(city, visits)


@pytest.mark.slow
@pytest.mark.parametrize("make", [paris, one_person])
def test_joint_against_each_single_mechanism(make, shared_data):
    """Scenario 1 of Privacy Games: the distortion asked for is what metric privacy gives.

    The metric-privacy optimum is then feasible for the joint problem, so both cost the
    same (D.7), and the distortion optimum costs no more than either.
    """
    prior = make(shared_data)
    d = prior.space.metric("euclidean", unit="km")
    cost = sf.hamming(prior.space)
    metric = sf.MetricPrivacy("0.6/km", d)
    alone = sf.design(prior, loss=cost, guarantees=[metric])
    reached = sf.attacks.optimal(alone.mechanism, prior, d).error
    wanted = sf.DistortionPrivacy(reached * (1 - 1e-6), d)
    distortion = sf.design(prior, loss=cost, guarantees=[wanted])
    joint = sf.design(prior, loss=cost, guarantees=[metric, wanted])
    for result in (alone, distortion, joint):
        assert result.status is Status.OPTIMAL
        assert result.certificate.holds
        assert result.certificate.gap <= 2e-6
    assert joint.certificate.epsilon_upper <= 0.6
    assert joint.certificate.distortion[0].lower >= wanted.minimum
    np.testing.assert_allclose(joint.certificate.loss, alone.certificate.loss, rtol=5e-6)
    assert distortion.certificate.loss <= joint.certificate.loss * (1 + 2e-6)
    # Against the attacker who draws from their posterior, metric privacy is the more robust (Figures 3 and 4).
    gaps = [
        sf.attacks.bayes(result.mechanism, prior, d).error - sf.attacks.optimal(result.mechanism, prior, d).error
        for result in (alone, distortion, joint)
    ]
    assert min(gaps) >= -1e-9


@pytest.mark.slow
def test_more_distortion_than_metric_privacy_gives_costs_more(shared_data):
    """Scenario 2: the joint mechanism reaches the larger distortion, at a cost of at least each single one's."""
    prior = one_person(shared_data)
    d = prior.space.metric("euclidean", unit="km")
    cost = sf.hamming(prior.space)
    metric = sf.MetricPrivacy("2/km", d)
    alone = sf.design(prior, loss=cost, guarantees=[metric])
    reached = sf.attacks.optimal(alone.mechanism, prior, d).error
    most = sf.attacks.blind(prior, d).error
    wanted = sf.DistortionPrivacy((reached + most) / 2, d)
    distortion = sf.design(prior, loss=cost, guarantees=[wanted])
    joint = sf.design(prior, loss=cost, guarantees=[metric, wanted])
    assert joint.certificate.holds
    assert joint.certificate.loss >= max(alone.certificate.lower_bound, distortion.certificate.lower_bound)
    assert sf.attacks.optimal(joint.mechanism, prior, d).error >= wanted.minimum
