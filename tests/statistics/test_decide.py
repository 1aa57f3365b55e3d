"""Audits of black boxes: the known-bad are found, the known-good are not accused."""

import math

import numpy as np
import pytest

from sfumato.core import Metric
from sfumato.errors import InputError
from sfumato.statistics import FineBits, Stop, decide

from ..catalogue import CASES, discrete, exponential, geometric, line, randomised_response, unused
from ..proofs.test_corpus import GRID, off_by_one
from .boxes import channel, most_failures, planar_laplace, rows_of, unary

EPSILON = 1.0


def ignored(s, rng):
    return s if rng.random() < 0.999 else int(rng.integers(9))


def fixed_seed(s, rng):
    return s + int(np.random.default_rng(7).geometric(0.5))


def bad_boxes():
    rng = np.random.default_rng(20)
    kept: dict[int, int] = {}
    fresh = channel(geometric(5, EPSILON), rng)
    return {
        "arg-max": (lambda s: 3 * (s // 3), range(9), Metric(GRID)),
        "epsilon ignored": (lambda s: ignored(s, rng), range(9), Metric(GRID)),
        "off by one": (channel(off_by_one(), rng), range(4), None),
        "unary encoding": (unary(EPSILON, rng), range(3), None),
        "fixed seed": (lambda s: fixed_seed(s, rng), range(5), Metric(line(5))),
        "memo": (lambda s: kept.setdefault(s, fresh(s)), range(5), Metric(line(5))),
        "rows normalised one by one": (channel(exponential(line(9), EPSILON), rng), range(9), Metric(line(9))),
        "half of the pairs": (
            channel(np.asarray(np.kron(randomised_response(2, 1.0), np.eye(2)), dtype=np.float64), rng),
            range(4),
            None,
        ),
    }


@pytest.mark.parametrize("name", bad_boxes())
def test_known_bad_is_found(name):
    box, secrets, metric = bad_boxes()[name]
    found = decide(box, secrets, EPSILON, metric, failure=1e-3, limit=60_000)
    assert found.is_violated
    assert found.epsilon_lower > EPSILON
    assert found.calls <= 60_000
    assert "violated" in str(found)
    assert found.repetition is not None
    if name in ("fixed seed", "memo"):
        assert found.repetition.probability is not None
        assert len(found.repetition.constant) == 5
        assert found.repetition.probability < 1e-6
        assert "always gave" in str(found)
    elif name not in ("arg-max", "epsilon ignored"):  # these hardly ever draw any noise
        assert not found.repetition.constant


def test_planar_laplace_in_doubles_is_found_by_the_fine_bits_of_one_report():
    # F.7: noise near a large coordinate is a multiple of 2^-45; near zero it has finer bits.
    epsilon = math.log(2) / 200
    box = planar_laplace(epsilon, np.random.default_rng(21))
    metric = Metric([[0.0, 256.0], [256.0, 0.0]], "m")
    fine = FineBits(2.0**-45, 128.0, dimensions=2)
    found = decide(box, [0.0, 256.0], f"{epsilon}/m", metric, bins=fine, failure=1e-6)
    assert found.is_violated
    assert found.finding is not None
    assert found.finding.is_unbounded
    assert found.finding.pair == (0.0, 256.0)
    assert all(str(label).startswith("fine") for label in found.finding.event)
    # Cells that do not look at the bits see nothing wrong, for the real numbers are private.
    assert not decide(box, [0.0, 256.0], epsilon, metric, bins=16, limit=8_000).is_violated


GOOD = [case for case in CASES if case.mechanism.shape[0] > 1 and 0 < case.epsilon < math.inf]


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_known_good_is_not_accused(case):
    box = channel(rows_of(case.mechanism), np.random.default_rng(22))
    labels = range(case.mechanism.shape[0])
    found = decide(box, labels, case.epsilon * (1 + 1e-6), case.metric, failure=1e-6, limit=6_000)
    assert found.stop is Stop.LIMIT
    assert found.epsilon_lower <= case.epsilon * (1 + 1e-6)
    assert found.repetition is not None
    assert found.repetition.probability is not None
    assert found.repetition.probability > 1e-6
    assert "does not prove" in str(found)


@pytest.mark.slow
def test_a_true_claim_is_called_violated_no_more_often_than_stated():
    rng, wrong, failure, count = np.random.default_rng(23), 0, 0.3, 100
    for _ in range(count):
        box = channel(unused(randomised_response(2, 0.4)), rng)
        wrong += decide(box, [0, 1], 0.4, failure=failure, limit=900).is_violated
    assert wrong <= most_failures(count, failure)


def test_the_limit_is_kept_and_doubled_looks_use_most_of_it():
    box = channel(randomised_response(3, 0.5), np.random.default_rng(24))
    for limit in (288, 1000, 5000):
        found = decide(box, range(3), 0.5, failure=1e-6, limit=limit)
        assert 0.95 * limit < found.calls <= limit
        assert found.finding is not None
        assert found.finding.failure == found.failure == 1e-6
        assert found.finding.comparisons == 4 * found.looks
    assert found.looks == 4


def test_an_interrupt_returns_what_is_known():
    box = channel(randomised_response(3, 2.0), np.random.default_rng(25))
    calls = 0

    def interrupted(s):
        nonlocal calls
        calls += 1
        if calls > stop_at:
            raise KeyboardInterrupt
        return box(s)

    stop_at = 3000
    found = decide(interrupted, range(3), 2.0, failure=1e-6)
    assert found.stop is Stop.INTERRUPTED
    assert 0 < found.epsilon_lower <= 2.0
    assert found.calls == stop_at + 1
    calls, stop_at = 0, 10
    found = decide(interrupted, range(3), 2.0)
    assert found.finding is None
    assert found.repetition is None
    assert "interrupted" in str(found)


def test_progress_is_told_as_it_goes():
    told = []
    box = channel(randomised_response(2, 1.0), np.random.default_rng(26))
    decide(box, range(2), 1.0, failure=1e-6, limit=4000, progress=lambda calls, value: told.append((calls, value)))
    assert [calls for calls, _ in told] == list(range(256, 4000, 256))
    assert [value for _, value in told] == sorted(value for _, value in told)
    assert 0 < told[-1][1] <= 1.0


def test_points_and_numbers_are_counted_in_cells_chosen_from_the_first_calls():
    rng = np.random.default_rng(27)

    def laplace(s):
        return s + rng.laplace()

    found = decide(laplace, [0.0, 4.0], 0.5, Metric(4 * discrete(2)), bins=16, failure=1e-6, limit=20_000)
    assert found.is_violated
    assert found.epsilon_lower <= 1.0
    with pytest.raises(InputError, match="all distinct numbers"):
        decide(laplace, [0.0, 4.0], 1.0)
    with pytest.raises(InputError, match="2 numbers each"):
        decide(lambda s: np.array([s, rng.normal()]), [0.0, 4.0], 1.0, bins=FineBits(0.5, 1.0))


def test_what_cannot_be_audited_is_refused():
    with pytest.raises(InputError, match="cannot be tested"):
        decide(lambda s: s, "ab", -1.0)
    with pytest.raises(InputError, match="delta 1"):
        decide(lambda s: s, "ab", 1.0, delta=1.0)
    with pytest.raises(InputError, match="failure"):
        decide(lambda s: s, "ab", 1.0, failure=0.0)
    with pytest.raises(InputError, match="finite distance"):
        decide(lambda s: s, "a", 1.0)
    with pytest.raises(InputError, match="are too few"):
        decide(lambda s: s, "ab", 1.0, limit=10)
    with pytest.raises(InputError, match="cannot be hashed"):
        decide(lambda s: {}, "ab", 1.0)
    with pytest.raises(ZeroDivisionError):
        decide(lambda s: 1 // 0, "ab", 1.0)
