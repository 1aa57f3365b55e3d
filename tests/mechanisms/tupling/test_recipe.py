"""Tuples: their law, the place of the true report, and that nothing else tells it."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from sfumato.core import Mechanism
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import Tupling
from sfumato.sampling import SeededWords, sampler, simulator
from tests.sampling.test_sampler import BY_CHANCE, chance

FALSE_ALARM = 1e-6
INNER = Mechanism([[0.5, 0.375, 0.125, 0.0], [0.0, 0.25, 0.75, 0.0]])  # an unused observable
NU = [0.25, 0.5, 0.25, 0.0]
APART = Mechanism([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # the third is a dummy for certain


@pytest.mark.parametrize("dummies", [0, 1, 2])
@pytest.mark.parametrize("secret", [0, 1])
@pytest.mark.parametrize("make", [sampler, lambda tupling: simulator(tupling, 5)])
def test_ordered_tuples_have_their_law(dummies, secret, make):
    tupling = Tupling(INNER, dummies, NU)
    drawn = make(tupling).draw(np.full(150_000, secret))
    codes = drawn @ (4 ** np.arange(dummies + 1))
    counts = np.bincount(codes, minlength=4 ** (dummies + 1))
    tuples = np.array(list(product(range(4), repeat=dummies + 1)))[:, ::-1]
    law = np.exp(tupling.log_likelihood(tuples, np.eye(2)[secret]))
    assert chance(counts, law) > BY_CHANCE
    wrong = np.exp(tupling.log_likelihood(tuples, np.eye(2)[1 - secret]))
    assert chance(counts, wrong) < BY_CHANCE  # the test can fail


@pytest.mark.parametrize("dummies", [1, 2, 6, 10])
def test_the_place_of_the_true_report_is_uniform_and_independent_of_the_secret(dummies):
    only_dummy = Tupling(Mechanism([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), dummies, [2**-40, 2**-40, 1 - 2**-39])
    secrets = np.arange(200_000) % 2
    drawn = sampler(only_dummy).draw(secrets)
    place = np.argmax(drawn != 2, axis=1)
    assert (drawn[np.arange(len(drawn)), place] == secrets).all()
    for secret in (0, 1):
        counts = np.bincount(place[secrets == secret], minlength=dummies + 1)
        assert chance(counts, np.full(dummies + 1, 1 / (dummies + 1))) > BY_CHANCE


def test_neighbouring_tuples_are_independent():
    tupling = Tupling(APART, 3, [0.25, 0.25, 0.5])
    drawn = simulator(tupling, 2).draw(np.zeros(50_000, dtype=int))
    flat = drawn.reshape(-1)
    for lag in (1, 3, 4):
        table = np.zeros((3, 3))
        np.add.at(table, (drawn[:-1, 0], drawn[1:, 0]), 1)
        assert chi2_contingency(table[:2, :2]).pvalue > FALSE_ALARM
        x, y = (flat[:-lag] == 2).astype(float), (flat[lag:] == 2).astype(float)
        # Within a tuple dummies are independent, and the true report never is the third.
        assert abs(np.corrcoef(x, y)[0, 1]) < 0.2


class Counting(SeededWords):
    """Seeded words that count how many were drawn."""

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = []

    def draw(self, count):
        self.drawn.append(count)
        return super().draw(count)


def test_equally_much_is_drawn_whatever_the_secret():
    requests = []
    for secret in (0, 1):
        words = Counting(9)
        Tupling(INNER, 3, NU).recipe().draw(np.full(1000, secret), words)
        requests.append(words.drawn)
    assert requests[0] == requests[1]


def test_shapes_blocks_and_repetition():
    tupling = Tupling(INNER, 999, NU)
    drawer = sampler(tupling)
    assert drawer.draw(1).shape == (1000,)
    assert drawer.draw(np.zeros((2, 3), dtype=int)).shape == (2, 3, 1000)
    assert drawer.draw([]).shape == (0, 1000)
    many = drawer.draw(np.zeros(1400, dtype=int))  # more than one block
    assert (many != 3).all()
    share = (many == 1).mean()
    assert abs(share - 0.5) < 7 * 0.5 / np.sqrt(many.size)  # by chance: 1e-10 (Hoeffding)
    assert not np.array_equal(drawer.draw([0, 1]), drawer.draw([0, 1]))
    once, again = (simulator(tupling, 4).draw([0, 1]) for _ in range(2))
    assert np.array_equal(once, again)
    assert "exact, cryptographic" in repr(drawer)
    assert "never for release" in repr(simulator(tupling, 4))


def test_refusals():
    drawer = sampler(Tupling(INNER, 1, NU))
    for wrong in ([2], [-1], [0.5], ["a"]):
        with pytest.raises(InputError, match=r"position of a secret|positions of secrets"):
            drawer.draw(wrong)
    with pytest.raises(InputError, match="seed"):
        simulator(Tupling(INNER, 1, NU), -1)
