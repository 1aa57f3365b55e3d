"""Attackers on a line of three places: errors in fractions, over all traces and reports."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import sfumato as sf
from sfumato.sequences import MarkovChain

LINE = sf.Space.numbers([0, 1, 2])
M = [[Fraction(k, 6) for k in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
K = [[Fraction(k, 10) for k in row] for row in ((8, 2, 0), (1, 8, 1), (0, 2, 8))]
PRIOR = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
NOISE = sf.Mechanism(np.array(M, dtype=float), LINE, LINE)
CHAIN = MarkovChain(
    sf.Prior(LINE, np.array(PRIOR, dtype=float)), sf.Mechanism(np.array(K, dtype=float), LINE, LINE)
)


def joint():
    """Return the probability of each trace with each sequence of reports, in fractions."""
    chances = {}
    for trace, reports in product(product(range(3), repeat=3), repeat=2):
        chance = PRIOR[trace[0]]
        for a, b in pairwise(trace):
            chance *= K[a][b]
        for x, o in zip(trace, reports, strict=True):
            chance *= M[x][o]
        chances[trace, reports] = chance
    return chances


@pytest.fixture(scope="module")
def chances():
    return joint()


def errors(chances, guesses):
    """Return the mean error at each tick of guesses (3,) for each sequence of reports."""
    return [sum(chance * abs(x[t] - guesses[o][t]) for (x, o), chance in chances.items()) for t in range(3)]


def medians(beliefs):
    """Return the guesses of least expected error, the middle where several are."""
    costs = beliefs @ abs(np.subtract.outer(range(3), range(3))) - [0, 1e-9, 0]
    return costs.argmin(axis=1).tolist()


def test_errors_of_all_attackers_are_the_fractions_of_the_line(chances):
    sequences = list(product(range(3), repeat=3))
    released = {o: [(NOISE, report) for report in o] for o in sequences}
    filtered = errors(chances, {o: medians(CHAIN.filter(released[o])) for o in sequences})
    smoothed = errors(chances, {o: medians(CHAIN.smooth(released[o])) for o in sequences})
    paths = errors(chances, {o: CHAIN.most_likely_path(released[o]).tolist() for o in sequences})
    assert errors(chances, {o: [1, 1, 1] for o in sequences}) == [Fraction(1, 2)] * 3
    assert filtered == [Fraction(1, 2), Fraction(13, 30), Fraction(103, 240)]
    assert smoothed == [Fraction(103, 240), Fraction(101, 240), Fraction(103, 240)]
    assert paths == [Fraction(1699, 3600), Fraction(181, 400), Fraction(1699, 3600)]


def test_the_path_is_the_first_of_the_most_likely_ones(chances):
    for o in product(range(3), repeat=3):
        most = max(chance for (_, reports), chance in chances.items() if reports == o)
        best = min(x for (x, reports), chance in chances.items() if reports == o and chance == most)
        assert CHAIN.most_likely_path([(NOISE, report) for report in o]).tolist() == list(best)


def test_without_reports_there_is_no_path():
    assert CHAIN.most_likely_path([]).tolist() == []
