"""Mixtures of two proved designs, against the mixtures themselves."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Bracket
from sfumato.errors import InputError
from sfumato.leakage import bayes_vulnerability
from sfumato.optimal import DesignLine, LineDesign, likeliest

SPACE = sf.Space.numbers(range(6), unit="km")
METRIC = SPACE.metric("absolute")
PRIOR = sf.Prior(SPACE, [0.3, 0.1, 0.2, 0.1, 0.3, 0.0])
EPSILONS = (0.3, 0.6, 1.5)


@pytest.fixture(scope="module")
def line() -> DesignLine:
    found = []
    for epsilon in EPSILONS:
        mechanism = sf.design(PRIOR, loss=METRIC, guarantees=sf.MetricPrivacy(epsilon, METRIC)).mechanism
        loss = mechanism.expected_loss(PRIOR, METRIC)
        error = sf.attacks.optimal(mechanism, PRIOR, METRIC).error
        found.append(
            LineDesign(
                str(epsilon),
                epsilon,
                mechanism.matrix.astype(np.float32),
                Bracket.exact(loss),
                Bracket.exact(error),
                Bracket.exact(bayes_vulnerability(mechanism, PRIOR)),
            )
        )
    return DesignLine(reversed(found))


@pytest.mark.parametrize("epsilon", [0.3, 0.31, 0.5, 0.6, 0.9, 1.49, 1.5])
def test_a_mixture_has_the_numbers_that_are_stated(line, epsilon):
    blend = line.at(epsilon)
    assert blend.lower.epsilon <= epsilon <= blend.upper.epsilon
    assert blend.single == (epsilon in EPSILONS)
    mixture = sf.Mechanism(blend.rows, SPACE, SPACE)
    np.testing.assert_allclose([blend.row(s) for s in range(6)], blend.rows, atol=1e-12)
    assert mixture.expected_loss(PRIOR, METRIC) == pytest.approx(blend.loss.value, rel=1e-5)
    slack = 1e-6
    assert blend.error is not None
    assert sf.attacks.optimal(mixture, PRIOR, METRIC).error >= blend.error.lower - slack
    assert bayes_vulnerability(mixture, PRIOR) <= blend.found.upper + slack
    bound = np.exp(blend.upper.epsilon * METRIC.array)[:, :, None] * blend.rows[None, :, :]
    assert (blend.rows[:, None, :] <= bound * (1 + 1e-5)).all()


def test_outcomes_are_found_on_the_line(line):
    losses = [each.loss.upper for each in line.designs]
    for wanted in np.linspace(losses[-1], losses[0], 9):
        epsilon = line.for_loss(float(wanted))
        assert epsilon is not None
        assert line.at(epsilon).loss.upper <= wanted * (1 + 1e-12)
        if epsilon > EPSILONS[0]:
            assert line.at(epsilon * 0.999).loss.upper > wanted
    assert line.for_loss(losses[-1] * 0.9) is None
    assert line.for_loss(losses[0] * 2) == EPSILONS[0]
    hits = [each.found.upper for each in line.designs]
    for wanted in np.linspace(hits[0], hits[-1], 9):
        epsilon = line.for_found(float(wanted))
        assert epsilon is not None
        assert line.at(epsilon).found.upper <= wanted * (1 + 1e-12)
    assert line.for_found(hits[0] * 0.9) is None
    assert line.for_found(1.0) == EPSILONS[-1]


def test_nothing_outside_of_the_line(line):
    for epsilon in (0.29, 1.51, float("nan")):
        with pytest.raises(InputError, match="outside"):
            line.at(epsilon)
    with pytest.raises(InputError, match="no design"):
        DesignLine([])


def test_the_likeliest_reports_are_the_fewest():
    row = np.array([0.1, 0.4, 0.0, 0.3, 0.2])
    assert likeliest(row, 0.5).tolist() == [1, 3]
    assert likeliest(row, 0.7).tolist() == [1, 3]
    assert likeliest(row, 0.71).tolist() == [1, 3, 4]
    assert likeliest(row, 0.0).tolist() == [1]
    assert set(likeliest(row, 1.0).tolist()) >= {0, 1, 3, 4}
