import numpy as np
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sfumato.intervals import exp_above, exp_below, exp_below_exact

epsilons, lengths = st.floats(1e-6, 50), st.floats(0, 13)


def _exp(product):
    with ctx.workprec(800):
        return (arb(product[0]) * arb(product[1])).exp()


@given(epsilons, st.lists(lengths, min_size=1, max_size=5))
def test_exponentials_from_below(epsilon, values):
    below = exp_below(epsilon, np.array(values))
    for d, found in zip(values, below, strict=True):
        true = _exp((epsilon, d))
        with ctx.workprec(800):
            assert arb(float(found)) <= true
            assert arb(float(found)) >= true * (1 - 2.0**-51)


@given(st.lists(st.floats(0, 700), min_size=1, max_size=5))
def test_exponentials_from_above(values):
    for e, found in zip(values, exp_above(np.array(values)), strict=True):
        true = _exp((e, 1.0))
        with ctx.workprec(800):
            assert arb(float(found)) >= true
            assert arb(float(found)) <= true * (1 + 2.0**-51)


@given(epsilons, lengths)
def test_exact_exponentials_from_below(epsilon, d):
    p, k = exp_below_exact(epsilon, d)
    true = _exp((epsilon, d))
    with ctx.workprec(800):
        found = arb(p) / arb(2) ** k
        assert found <= true
        assert found >= true * (1 - arb(2) ** -140)


def test_shapes_and_extremes():
    below = exp_below(1.0, np.array([[0.0, np.inf], [1e4, 2.0]]))
    assert below.shape == (2, 2)
    assert below[0, 0] <= 1.0 <= below[0, 0] * (1 + 1e-15)
    assert below[0, 1] == np.inf
    assert below[1, 0] == 1e300
    above = exp_above(np.array([0.0, 701.0]))
    assert above[0] >= 1.0
    assert above[1] == np.inf
