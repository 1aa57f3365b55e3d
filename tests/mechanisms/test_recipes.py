"""Reports drawn without the matrix, against the matrix."""

import numpy as np
import pytest

from sfumato.core import Space
from sfumato.errors import InputError
from sfumato.mechanisms import LocalHashing, RandomisedResponse, SubsetSelection, UnaryEncoding
from sfumato.sampling import sampler, simulator
from tests.sampling.test_sampler import BY_CHANCE, chance

FIVE = Space("abcde")
FAMILIES = [
    RandomisedResponse(FIVE, 1.0),
    UnaryEncoding(FIVE, 1.0, "symmetric"),
    UnaryEncoding(FIVE, 1.0, "optimised"),
    LocalHashing(FIVE, 0.5),
    LocalHashing(FIVE, 1.0, 7),
    SubsetSelection(FIVE, 1.0),
    SubsetSelection(FIVE, 1.0, 1),
    SubsetSelection(FIVE, 1.0, 4),
]


def labels(family, reports):
    names = FIVE.labels
    if isinstance(family, RandomisedResponse):
        return [names[o] for o in reports.tolist()]
    if isinstance(family, UnaryEncoding):
        return [frozenset(n for n, bit in zip(names, row, strict=True) if bit) for row in reports.tolist()]
    if isinstance(family, SubsetSelection):
        return [frozenset(names[i] for i in row) for row in reports.tolist()]
    return [tuple(row) for row in reports.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name} {f.mechanism().shape[1]}")
@pytest.mark.parametrize("make", [sampler, lambda family: simulator(family, 3)], ids=["sampler", "simulator"])
def test_reports_have_the_distribution_of_the_matrix(family, make):
    mechanism, count = family.mechanism(), 150_000
    for secret in (0, 3):
        reports, times = np.unique(make(family).draw(np.full(count, secret)), axis=0, return_counts=True)
        observed = np.zeros(mechanism.shape[1], dtype=int)
        np.add.at(observed, mechanism.observables.positions(labels(family, reports)), times)
        assert observed.sum() == count
        assert chance(observed, mechanism.matrix[secret]) > BY_CHANCE


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "make",
    [
        lambda s: UnaryEncoding(s, 2.0, "optimised"),
        lambda s: LocalHashing(s, 2.0),
        lambda s: SubsetSelection(s, 2.0),
    ],
)
def test_frequencies_of_many_categories(make):
    family = make(Space(range(300)))
    count = 40_000
    reports = sampler(family).draw(np.full(count, 7))
    if isinstance(family, UnaryEncoding):
        supported = reports[:, [7, 8]].mean(axis=0)
    elif isinstance(family, SubsetSelection):
        supported = np.array([(reports == x).any(axis=1).mean() for x in (7, 8)])
    else:
        a, b, z = reports.T
        supported = np.array([((a * x + b) % family.prime % family.buckets == z).mean() for x in (7, 8)])
    # By chance: 3e-10 (Hoeffding, six shares).
    np.testing.assert_allclose(supported, family.support, atol=7 * 0.5 / np.sqrt(count))


def test_shapes_and_refusals():
    drawer = sampler(FAMILIES[1])
    assert drawer.draw(np.zeros(0, dtype=int)).shape == (0, 5)
    subset = FAMILIES[5]
    assert isinstance(subset, SubsetSelection)
    assert sampler(subset).draw([0, 1]).shape == (2, subset.size)
    assert drawer.draw([[0, 1], [2, 3]]).shape == (2, 2, 5)
    for bad in ([5], [-1], [0.5]):
        with pytest.raises(InputError, match=r"position of a secret|positions of secrets"):
            drawer.draw(bad)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name} {f.mechanism().shape[1]}")
def test_a_simulated_oracle_repeats_itself(family):
    secrets = np.arange(5).repeat(200)
    first, again, other = (simulator(family, seed).draw(secrets) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
