import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.arrays import Floats
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.errors import InputError

from .pairs import several

INF = math.inf


def t_log_t(t: Floats) -> Floats:
    return np.asarray(t * np.log(t))


GENERATED: list[tuple[Divergence, FDivergence]] = [
    (KL, FDivergence("KL", t_log_t, 0.0, INF)),
    (REVERSE_KL, FDivergence("reverse KL", lambda t: -np.log(t), INF, 0.0)),
    (TOTAL_VARIATION, FDivergence("total variation", lambda t: np.abs(t - 1) / 2, 0.5, 0.5)),
    (CHI_SQUARED, FDivergence("chi-square", lambda t: (t - 1) ** 2, 1.0, INF)),
    (HELLINGER, FDivergence("Hellinger", lambda t: (np.sqrt(t) - 1) ** 2 / 2, 0.5, 0.5)),
    (HockeyStick(0.7), FDivergence("stick", lambda t: np.maximum(t - math.exp(0.7), 0), 0.0, 1.0)),
]
JOINTLY_CONVEX = [*(own for own, _ in GENERATED), GENERATED[2][1], FDivergence(
    "Vincze-Le Cam", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0
)]  # fmt: skip
PROCESSED = [*JOINTLY_CONVEX, Renyi(0.3), Renyi(1.0), Renyi(4.0), Renyi(INF), MaxDivergence(0.1)]


@given(several())
def test_the_own_formula_is_that_of_the_generator(rows):
    for own, generated in GENERATED:
        assert own(*rows) == pytest.approx(generated(*rows), rel=1e-12, abs=1e-12), own.name


@given(several(count=4), st.floats(0, 1))
def test_joint_convexity(rows, weight):
    p, q, p2, q2 = rows
    for divergence in JOINTLY_CONVEX:
        mixed = divergence(weight * p + (1 - weight) * p2, weight * q + (1 - weight) * q2)
        parts = ((weight, (p, q)), (1 - weight, (p2, q2)))
        values = [share * divergence(*pair) for share, pair in parts if share > 0]
        assert mixed <= sum(values) + 1e-9, divergence.name


@given(rows=several(count=2, largest=4), data=st.data())
def test_processing_never_separates(rows, data):
    m = rows.shape[1]
    row = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)
    channel = np.array(data.draw(st.lists(row, min_size=m, max_size=m)), dtype=float)
    channel /= channel.sum(axis=1, keepdims=True)
    for divergence in PROCESSED:
        assert divergence(*(rows @ channel)) <= divergence(*rows) + 1e-9, divergence.name


@given(several())
def test_never_negative_and_zero_for_equals(rows):
    p, q = rows
    for divergence in JOINTLY_CONVEX:
        assert divergence(p, q) >= 0, divergence.name
        assert divergence(p, p) == 0, divergence.name


@given(several())
def test_zeros_by_their_conventions(rows):
    p, q = rows
    absolutely = not ((p > 0) & (q == 0)).any()
    assert math.isfinite(KL(p, q)) == absolutely
    assert math.isfinite(CHI_SQUARED(p, q)) == absolutely
    assert math.isfinite(MaxDivergence()(p, q)) == absolutely
    assert math.isfinite(Renyi(2.5)(p, q)) == absolutely
    assert math.isfinite(Renyi(0.5)(p, q)) == bool(((p > 0) & (q > 0)).any())
    assert REVERSE_KL(p, q) == KL(q, p)


@given(several(positive=True))
def test_textbook_sums(rows):
    p, q = rows
    assert KL(p, q) == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-13)
    assert CHI_SQUARED(p, q) == pytest.approx(float((p * p / q).sum() - 1), abs=1e-12)
    assert HELLINGER(p, q) == pytest.approx(1 - float(np.sqrt(p * q).sum()), abs=1e-13)
    for order in (0.01, 0.5, 0.999, 1.001, 2.0, 30.0):
        plain = math.log(float((p**order * q ** (1 - order)).sum())) / (order - 1)
        assert Renyi(order)(p, q) == pytest.approx(plain, abs=1e-11)


@given(several())
def test_renyi_relations(rows):
    p, q = rows
    orders = [Renyi(a)(p, q) for a in (0.1, 0.5, 0.9999, 1.0, 1.0001, 2.0, 10.0, 1e5, INF)]
    for low, high in itertools.pairwise(orders):
        assert low <= high + 1e-12
    assert Renyi(2.0)(p, q) == pytest.approx(math.log1p(CHI_SQUARED(p, q)), abs=1e-12)
    if HELLINGER(p, q) < 1 - 1e-9:
        assert Renyi(0.5)(p, q) == pytest.approx(-2 * math.log1p(-HELLINGER(p, q)), abs=1e-9)
    assert Renyi(INF)(p, q) == MaxDivergence()(p, q)
    assert Renyi(0.3)(p, q) == pytest.approx(0.3 / 0.7 * Renyi(0.7)(q, p), abs=1e-12)


@given(several(positive=True))
def test_renyi_limits(rows):
    p, q = rows
    assert Renyi(1 + 1e-9)(p, q) == pytest.approx(KL(p, q), abs=1e-7)
    assert Renyi(1 - 1e-9)(p, q) == pytest.approx(KL(p, q), abs=1e-7)
    assert Renyi(1e7)(p, q) == pytest.approx(MaxDivergence()(p, q), abs=1e-5)


@given(several(positive=True))
def test_pinsker_and_its_kin(rows):
    p, q = rows
    tv, h = TOTAL_VARIATION(p, q), HELLINGER(p, q)
    assert 2 * tv**2 <= KL(p, q) + 1e-12
    assert h <= tv + 1e-12
    assert tv <= math.sqrt(h * (2 - h)) + 1e-7
    assert KL(p, q) <= math.log1p(CHI_SQUARED(p, q)) + 1e-12


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-8, 1e-15])
def test_small_divergences_keep_their_digits(gap):
    p, q = np.array([0.5 + gap / 2, 0.5 - gap / 2]), np.array([0.5, 0.5])
    x = float((p[0] - q[0]) / q[0])
    assert CHI_SQUARED(p, q) == pytest.approx(x * x, rel=1e-9)
    assert KL(p, q) == pytest.approx(sum(x ** (2 * k) / (2 * k * (2 * k - 1)) for k in (1, 2, 3)), rel=1e-9)
    assert Renyi(3.0)(p, q) == pytest.approx(math.log1p(3 * x * x) / 2, rel=1e-9)
    assert HELLINGER(p, q) == pytest.approx(x * x / 8 * (1 + 5 / 16 * x * x), rel=1e-9)


def test_extreme_probabilities():
    p, q = [1e-300, 1.0], [1.0, 1e-300]
    assert KL(p, q) == pytest.approx(300 * math.log(10), rel=1e-12)
    assert Renyi(0.5)(p, q) == pytest.approx(300 * math.log(10) - 2 * math.log(2), rel=1e-12)
    assert Renyi(50.0)(p, q) == pytest.approx(300 * math.log(10), rel=1e-12)
    assert Renyi(2.0)([1.0, 0.0], [5e-324, 1.0]) == pytest.approx(-math.log(5e-324), rel=1e-12)
    assert MaxDivergence()([1.0, 0.0], [5e-324, 1.0]) == pytest.approx(-math.log(5e-324), rel=1e-12)


@settings(max_examples=20)
@given(several(count=3))
def test_pairwise_is_pair_by_pair(rows):
    for divergence in PROCESSED:
        again = np.array([[divergence(p, q) for q in rows] for p in rows])
        assert divergence.pairwise(rows) == pytest.approx(again, rel=1e-12, abs=1e-13)
        assert divergence.rows(rows, rows[0]) == pytest.approx(again[:, 0], rel=1e-12, abs=1e-13)


def test_generators_that_overflow_count_with_their_limits():
    triangular = JOINTLY_CONVEX[-1]
    assert triangular([1.0, 0.0], [1e-264, 1.0]) == pytest.approx(2.0)
    assert triangular([1.0, 0.0], [5e-324, 1.0]) == pytest.approx(2.0)
    assert triangular([1e-264, 1.0], [1.0, 0.0]) == pytest.approx(2.0)


def test_wrong_generators_are_refused():
    with pytest.raises(InputError, match="at 1, not 0"):
        FDivergence("shifted", lambda t: t, 0.0, 1.0)
    with pytest.raises(InputError, match="not convex"):
        FDivergence("concave", lambda t: np.log(t), -INF, 0.0)
    with pytest.raises(InputError, match="not convex"):
        FDivergence("wrong slope", lambda t: (t - 1) ** 2, 1.0, 0.5)
    with pytest.raises(InputError, match="not convex"):
        FDivergence("wrong value at 0", lambda t: np.abs(t - 1), 0.5, 1.0)
    with pytest.raises(InputError, match="finite numbers"):
        FDivergence("one number", lambda t: np.zeros(1), 0.0, 0.0)
    with pytest.raises(InputError, match="not positive"):
        Renyi(0.0)
    with pytest.raises(InputError, match="shape"):
        KL.pairwise([0.5, 0.5])
    with pytest.raises(InputError, match="NaN"):
        FDivergence("no limit", lambda t: (t - 1) ** 2, math.nan, INF)


@pytest.mark.parametrize("order", [1e290, 1e300, 1e305, 1.7976931348623157e308])
def test_orders_at_the_end_of_the_floats_are_the_max_divergence(order):
    p, q = np.array([0.5, 0.25, 0.25]), np.array([1e-300, 0.5, 0.5])
    assert Renyi(order)(p, q) == pytest.approx(MaxDivergence()(p, q))
    assert Renyi(order)(q, p) == pytest.approx(MaxDivergence()(q, p))
