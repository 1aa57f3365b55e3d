"""Counted guesses: the measures against their formulas, and what cannot be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.attacks.classifiers import Confusion
from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.leakage import bayes_error, mutual_information_bits

TABLES = arrays(np.int64, (3, 3), elements=st.integers(0, 20)).filter(lambda a: a.sum() > 0)


def by_hand(counts):
    """Equations 18 to 22 with loops, over the secrets that occur."""
    f1, recalls = [], []
    for i in range(len(counts)):
        row, column = counts[i].sum(), counts[:, i].sum()
        if row == 0:
            continue
        recall = counts[i, i] / row
        precision = counts[i, i] / column if column else 0.0
        recalls.append(recall)
        f1.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return float(np.mean(recalls)), float(np.mean(f1))


@given(TABLES)
def test_measures_are_those_of_the_paper(counts):
    found = Confusion(counts)
    balanced, f1 = by_hand(counts)
    assert found.balanced_accuracy == pytest.approx(balanced)
    assert found.f1 == pytest.approx(f1)
    assert found.accuracy == pytest.approx(sum(counts[i, i] for i in range(3)) / counts.sum())


@given(TABLES)
def test_information_and_bayes_error_are_those_of_the_channel_of_guesses(counts):
    # A secret that never occurs has prior zero, and its row may be anything.
    rows = counts.sum(axis=1)
    channel = np.where(rows[:, None] > 0, counts / np.maximum(rows, 1)[:, None], 1 / 3)
    space = Space(range(3))
    mechanism, prior = Mechanism(channel, space, space), Prior(space, rows / rows.sum())
    found = Confusion(counts)
    assert found.information_bits == pytest.approx(mutual_information_bits(mechanism, prior), abs=1e-9)
    assert found.bayes_error == pytest.approx(bayes_error(mechanism, prior), abs=1e-9)
    assert found.bayes_error <= 1 - found.accuracy + 1e-12


def test_pairs_are_counted():
    found = Confusion.of(np.array([0, 0, 2, 1]), np.array([0, 1, 2, 1]), 4)
    assert found.counts.tolist() == [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert found.hits == 3
    assert found.recall.tolist() == [0.5, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("counts", [[[1, 2]], [[0, 0], [0, 0]], [[1.5, 0], [0, 1]], [[-1, 2], [1, 1]]])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(InputError):
        Confusion(counts)
