"""Tuples as a matrix of multisets: its law, and what audits and notions find of it."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Mechanism
from sfumato.errors import InputError
from sfumato.mechanisms import FamilyAccountant, RandomisedResponse, Tupling, UnaryEncoding
from sfumato.privacy.distributions import worst_beliefs
from tests.sampling.test_sampler import FALSE_ALARM, p_value

from .exact import laws_of_multisets


@pytest.mark.parametrize("dummies", [0, 1, 3])
def test_the_listed_matrix_has_the_laws_of_multisets(dummies):
    inner = Mechanism([[0.5, 0.5, 0, 0], [0.25, 0.5, 0.25, 0]], sf.Space("st"), sf.Space("abcd"))
    nu = [0.5, 0.25, 0.25, 0.0]
    tupling = Tupling(inner, dummies, nu)
    listed = tupling.channel()
    assert listed.secrets == inner.secrets
    first, second = laws_of_multisets(inner.matrix[0, :3], inner.matrix[1, :3], nu[:3], dummies)
    np.testing.assert_allclose(listed.matrix, [first, second], rtol=1e-13)
    assert listed.observables.labels == tuple(combinations_with_replacement("abc", dummies + 1))
    drawn = sf.simulator(tupling, 5).draw(np.zeros(20_000, dtype=int))
    found = ["".join(sorted("abcd"[each] for each in one)) for one in drawn.tolist()]
    counts = [found.count("".join(label)) for label in combinations_with_replacement("abc", dummies + 1)]
    assert p_value(listed, 0, np.array(counts)) > FALSE_ALARM


def test_an_audit_of_tuples_finds_what_the_accountant_proves():
    inner = sf.mechanisms.randomised_response(sf.Space("abc"), 1.5)
    tupling = Tupling(inner, 4, [0.3, 0.3, 0.4])
    found = sf.audit(tupling, deltas=[1e-3], delta_at=[0.5])
    assert found.find("differential-privacy", delta=0).bracket.value == pytest.approx(1.5, rel=1e-12)
    proved = FamilyAccountant.of_points(tupling).delta(0.5).bounds
    assert proved.lower * (1 - 1e-9) <= found.find("delta", epsilon=0.5).bracket.value <= proved.upper * (1 + 1e-9)
    assert not any(entry.is_proved for entry in found)
    assert "rounded to integers" in found.notes[-1]
    family = sf.privacy.Family({"many": [0.6, 0.2, 0.2], "few": [0.2, 0.6, 0.2]})
    notion = sf.privacy.DistributionPrivacy(family, 0.01)
    least = FamilyAccountant(tupling, family.distributions, family.pairs).epsilon(0.01).bounds
    measured = notion.measure(tupling)
    assert least.lower - 1e-9 <= measured.value <= least.upper + 1e-9
    assert worst_beliefs(tupling, family, 0.0, 0.01).epsilon.value == pytest.approx(measured.value, abs=1e-9)


def test_tuples_too_many_to_list_are_refused_in_one_line():
    many = Tupling(sf.mechanisms.randomised_response(sf.Space(range(50)), 1.0), 9, np.full(50, 0.02))
    with pytest.raises(InputError, match=r"the matrix of a Tupling with 9 dummies .* has 50 x [0-9,]+ entries"):
        sf.audit(many)
    long = Tupling(Mechanism(np.eye(2)), 500, [0.5, 0.5])
    with pytest.raises(InputError, match="tuples of 501 reports are too many to list"):
        sf.audit(long)


def test_an_audit_of_a_family_is_of_its_matrix():
    space = sf.Space("abc")
    drawn = sf.audit(RandomisedResponse(space, 1.0))
    assert drawn.entries == sf.audit(sf.mechanisms.randomised_response(space, 1.0)).entries
    oracle = UnaryEncoding(space, 1.0, "symmetric")
    found = sf.audit(oracle).find("differential-privacy", delta=0)
    assert not found.is_proved
    assert found.bracket.value == pytest.approx(1.0)
    with pytest.raises(InputError, match="infinitely many"):
        sf.audit(sf.mechanisms.DiscreteLaplace(1.0))


def test_attacks_of_tuples_are_those_of_the_posterior():
    """The best attacker's error and hit rate, by Bayes' rule over all ordered tuples."""
    inner = Mechanism([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], sf.Space("st"), sf.Space("abc"))
    tupling, prior = Tupling(inner, 2, [0.5, 0.25, 0.25]), sf.Prior(inner.secrets, [0.25, 0.75])
    tuples = np.array(list(product(range(3), repeat=3)))
    joint = np.exp([tupling.log_likelihood(tuples, row) for row in np.eye(2)]) * prior.probabilities[:, None]
    found = sf.attacks.optimal(tupling, prior, sf.hamming(inner.secrets))
    assert found.error == pytest.approx(1 - joint.max(axis=0).sum(), rel=1e-12)
    assert found.hit_rate == pytest.approx(joint.max(axis=0).sum(), rel=1e-12)
    assert sf.attacks.prior_free(tupling, prior, sf.hamming(inner.secrets)).error >= found.error - 1e-9
    with pytest.raises(InputError, match="no matrix"):
        sf.attacks.optimal(sf.mechanisms.planar.CoordinateNoise("1/km"), prior, sf.hamming(inner.secrets))
