"""Samplers against the matrices they declare, and their manners."""

import numpy as np
import pytest
from scipy.stats import chi2, poisson

import sfumato as sf
from sfumato.errors import InputError
from sfumato.sampling import Sampler, SeededWords, Simulator, SystemWords, sampler, simulator

from .mechanisms import geometric_mechanism, random_mechanism

FALSE_ALARM = 1e-6
MECHANISMS = {
    "random, 62 bits": random_mechanism(1, 6, 11),
    "random, 126 bits": random_mechanism(2, 6, 11, tiny=True),
    "geometric": geometric_mechanism(16, 0.5),
    "steep geometric, 126 bits": geometric_mechanism(24, 0.2),
    "one observable": sf.Mechanism([[1.0], [1.0]]),
    "uniform on seven": sf.Mechanism(np.full((3, 7), 1 / 7)),
}


def p_value(mechanism: sf.Mechanism, row: int, counts: np.ndarray) -> float:
    """Of Pearson's test and of a test of rare outcomes, together; an impossible outcome gives 0.

    Outcomes that expect fewer than 5 are pooled. How often they occur at all is tested by
    the tail of Poisson's distribution, as Pearson's is not to be trusted there; in
    Pearson's they join the rarest of the others.
    """
    expected = mechanism.matrix[row] * counts.sum()
    if counts[expected == 0].any():
        return 0.0
    rare = expected < 5
    p_rare = float(poisson.sf(counts[rare].sum() - 1, expected[rare].sum()))
    observed, wanted = counts[~rare].astype(float), expected[~rare]
    observed[np.argmin(wanted)] += counts[rare].sum()
    wanted[np.argmin(wanted)] += expected[rare].sum()
    statistic = ((observed - wanted) ** 2 / wanted).sum()
    p_pearson = float(chi2.sf(statistic, len(wanted) - 1)) if len(wanted) > 1 else 1.0
    return min(1.0, 2 * min(p_rare, p_pearson))


def conforms(drawer: Sampler | Simulator, draws: int) -> bool:
    mechanism = drawer.drawable
    assert isinstance(mechanism, sf.Mechanism)
    n, m = mechanism.shape
    rows = np.repeat(np.arange(n), draws)
    drawn = drawer.draw(rows)
    counts = np.bincount(rows * m + drawn, minlength=n * m).reshape(n, m)
    return all(p_value(mechanism, row, counts[row]) > FALSE_ALARM / n for row in range(n))


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_sampler_conforms(name: str) -> None:
    assert conforms(sampler(MECHANISMS[name]), 100_000)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_simulator_conforms(name: str) -> None:
    assert conforms(simulator(MECHANISMS[name], seed=7), 100_000)


def test_the_conformance_test_can_fail() -> None:
    honest, other = random_mechanism(1, 6, 11), random_mechanism(3, 6, 11)
    biased = sampler(other)
    object.__setattr__(biased, "drawable", honest)
    assert not conforms(biased, 100_000)


@pytest.mark.parametrize("name", MECHANISMS)
def test_both_widths_are_covered(name: str) -> None:
    assert MECHANISMS[name].bits == (126 if "126" in name else 62)


def test_an_arg_max_of_the_row_is_found_out() -> None:
    mechanism = MECHANISMS["geometric"]
    counts = np.zeros(16, dtype=int)
    counts[4] = 1000
    assert p_value(mechanism, 4, counts) < FALSE_ALARM


def test_samplers_never_repeat_each_other() -> None:
    mechanism = geometric_mechanism(16, 0.9)
    rows = np.arange(16).repeat(50)
    draws = [sampler(mechanism).draw(rows).tobytes() for _ in range(10)]
    one = sampler(mechanism)
    draws += [one.draw(rows).tobytes() for _ in range(10)]
    assert len(set(draws)) == 20


def test_a_simulator_repeats_itself() -> None:
    mechanism = geometric_mechanism(16, 0.9)
    rows = np.arange(16).repeat(50)
    first, again, other = (simulator(mechanism, seed) for seed in (7, 7, 8))
    drawn = first.draw(rows)
    assert np.array_equal(drawn, again.draw(rows))
    assert not np.array_equal(drawn, other.draw(rows))
    assert not np.array_equal(drawn, first.draw(rows))


def test_shapes() -> None:
    draw = sampler(geometric_mechanism(4, 0.5)).draw
    assert draw(2).shape == ()
    assert draw([0, 1, 3]).shape == (3,)
    assert draw(np.zeros((2, 3, 4), dtype=np.uint8)).shape == (2, 3, 4)
    assert draw([]).shape == (0,)
    assert draw(np.zeros((0, 5))).shape == (0, 5)


def test_blocks_join_without_a_seam() -> None:
    identity = sf.Mechanism(np.eye(5))
    rows = np.arange(5).repeat(60_000)
    assert np.array_equal(sampler(identity).draw(rows), rows)
    assert np.array_equal(simulator(identity, 1).draw(rows[::-1]), rows[::-1])


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([0, 4], "index 4 is not the position of a secret"),
        ([-1], "index -1 is not"),
        ([0.0], "not integers but float64"),
        ([True], "not integers but bool"),
        (["a"], "not integers but"),
        ([2**70], "not integers but object"),
        (np.array([2**63], dtype=np.uint64), "index 9223372036854775808 is not"),
    ],
)
def test_indices_that_are_none(indices: object, words: str) -> None:
    mechanism = geometric_mechanism(4, 0.5)
    for drawer in (sampler(mechanism), simulator(mechanism, 1)):
        with pytest.raises(InputError, match=words):
            drawer.draw(indices)  # type: ignore[arg-type]


def test_what_they_say_of_themselves() -> None:
    mechanism = geometric_mechanism(4, 0.5)
    assert "exact, cryptographic" in repr(sampler(mechanism))
    assert "never" not in repr(sampler(mechanism))
    assert "seed=7" in repr(simulator(mechanism, 7))
    assert "for studies, never for release" in repr(simulator(mechanism, 7))
    assert "for studies, never for release" in repr(SeededWords(7))
    assert not issubclass(Simulator, Sampler)
    assert "cryptographic" in repr(SystemWords())


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, "7"])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        simulator(geometric_mechanism(4, 0.5), seed)  # type: ignore[arg-type]


def test_system_words_are_fresh_and_even() -> None:
    words = SystemWords().draw(20_000)
    assert words.dtype == np.uint64
    assert len(np.unique(words)) == 20_000
    ones = np.array([int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    assert (np.abs(ones - 10_000) < 6.5 * np.sqrt(5_000)).all()  # 64 bits, each beyond 6.5 sigma: 5e-9


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [False, True], ids=["62 bits", "126 bits"])
def test_a_hundred_million_draws_raise_no_alarm(tiny: bool) -> None:
    mechanism = random_mechanism(3, 400, 400, tiny=tiny)
    drawer = sf.sampler(mechanism)
    n, m = mechanism.shape
    secrets = np.tile(np.arange(n), 25_000)
    counts = np.zeros(n * m, dtype=np.int64)
    for _ in range(10):
        counts += np.bincount(secrets * m + drawer.draw(secrets), minlength=n * m)
    assert counts.sum() == 100_000_000
    # Bonferroni: one false alarm in a million runs of this test.
    assert min(p_value(mechanism, row, counts.reshape(n, m)[row]) for row in range(n)) > 1e-6 / n
