"""Mechanisms among dummies: the attacker's estimate against all tuples listed, and the rows of a comparison."""

from itertools import product

import numpy as np
import pytest

import sfumato as sf
from sfumato.comparison import compare
from sfumato.comparison.priors import attack_tuples, with_dummies
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import Tupling, quality_loss

LINE = sf.Space(range(4), [[0.0], [1.0], [2.0], [4.0]], unit="km")
METRIC = LINE.metric("euclidean")
PRIOR = sf.Prior(LINE, [0.5, 0.25, 0.25, 0.0])


def listed(tupling, prior, metric):
    """The best attackers' error, wrong guesses and the entropy left, over all ordered tuples."""
    n, m = tupling.inner.shape
    tuples = np.array(list(product(range(m), repeat=tupling.queries)))
    laws = np.array([np.exp(tupling.log_likelihood(tuples, row)) for row in np.eye(n)])
    joint = prior.probabilities[:, None] * laws
    total = joint.sum(axis=0)
    error = (metric.array @ joint).min(axis=0).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(joint * np.log2(joint / total))
    return error, 1 - joint.max(axis=0).sum(), entropy


@pytest.mark.parametrize("dummies", [0, 1, 3])
def test_the_estimate_is_near_the_value_over_all_tuples(dummies):
    mechanism = sf.mechanisms.exponential(LINE, METRIC, "1/km")
    tupling = with_dummies(mechanism, dummies)
    error, wrong, entropy = listed(tupling, PRIOR, METRIC)
    found = attack_tuples(tupling, PRIOR, METRIC, seed=3, draws=20_000)
    assert abs(found.error - error) < 6 * found.spread
    assert abs(found.wrong - wrong) < 6 / np.sqrt(4 * 20_000)
    assert found.entropy_bits == pytest.approx(entropy, abs=6 * 2 / np.sqrt(20_000))
    assert found.spread < 0.01


def test_dummies_lower_the_loss_and_help_no_attacker():
    found = compare(PRIOR, METRIC, epsilon="1/km", dummies=3, remap=False)
    alone, among = found.row("optimum"), found.row("optimum among 3 dummies")
    assert among.epsilon_upper == alone.epsilon_upper
    assert among.loss < alone.loss
    assert among.worst_case_loss <= alone.worst_case_loss * (1 + 1e-8)
    assert among.spread is not None
    assert among.attacker_error >= alone.attacker_error - 6 * among.spread
    assert among.entropy_bits + among.information_bits == pytest.approx(
        alone.entropy_bits + alone.information_bits
    )
    assert alone.spread is None


def test_the_loss_is_of_the_best_answer():
    mechanism = sf.mechanisms.exponential(LINE, METRIC, "1/km")
    rows = compare(
        PRIOR,
        METRIC,
        epsilon=1.0,
        dummies=2,
        remap=False,
        families=[sf.comparison.ParametricFamily("given", lambda _: mechanism, promises=True)],
    )
    tupling = Tupling(mechanism, 2, with_dummies(mechanism, 2).distribution)
    assert rows.row("given among 2 dummies").loss == pytest.approx(quality_loss(tupling, PRIOR, METRIC), rel=3e-9)


def test_dummies_at_equal_loss_are_refused():
    with pytest.raises(InputError, match="dummies were asked for at equal loss"):
        compare(PRIOR, METRIC, max_loss=0.2, dummies=3)
    with pytest.raises(InputError, match="number of dummies"):
        compare(PRIOR, METRIC, epsilon=1.0, dummies=-1)
