"""Claims and implications of extreme numbers: subnormal, huge, infinite; and what equal content is worth."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.privacy import ATLAS, NOTION_KEYS, Claim, Priors, TradeOff, compose, convert, describe, implications
from sfumato.privacy.atlas import Goal, Refusal

from .test_atlas import FULL, LINE, contexts, goals

ANY = st.floats(allow_nan=True) | st.sampled_from([5e-324, 1e-310, 7e-15, 1e17, 1e308, math.inf, -0.0])
SIZES = st.floats(0, 1.7e308) | st.sampled_from([0.0, 5e-324, 1e-310, 7e-15, 1e-8, 40.0, 710.0, 1e160, 1e308])


def about(notion):
    """A context in which a notion can be claimed."""
    if notion == "distortion":
        return {"distance": LINE, "priors": Priors.of(FULL)}
    given = contexts(notion)[0]
    return {name: value for name, value in given.items() if name in Claim.names(notion)}


def claimed(notion, value):
    if notion == "trade-off":
        return Claim(notion, curve=TradeOff.of_epsilon(value), **about(notion))
    numbers = dict.fromkeys(("rise", "fall") if notion == "event-ratio" else Claim.names(notion)[:1], value)
    return Claim(notion, **{**about(notion), **numbers})


@given(st.sampled_from(NOTION_KEYS), ANY)
def test_claims_print_what_they_promise_or_are_refused(notion, value):
    if notion == "trade-off":
        return
    try:
        claim = claimed(notion, value)
    except InputError:
        assert not 0 <= value < math.inf
        return
    name = next(iter(claim.numbers))
    assert claim.sentence
    if f"{name} " not in str(claim):
        assert notion == "event-ratio"  # a ratio that is not bounded goes without saying
        assert math.isinf(value)
        return
    shown = float(str(claim).split(f"{name} ")[1].split(",")[0].replace("infinite", "inf"))
    assert shown <= value if describe(notion).larger_hides else shown >= value


@given(st.sampled_from(ATLAS), SIZES, st.integers(0, 99))
@example(implications(start="concentrated-privacy", end="differential-privacy")[0], 6.5e298, 6)
@example(implications(start="concentrated-privacy", end="differential-privacy")[0], 1.7e308, 6)
def test_no_implication_breaks_and_no_loss_is_rounded_to_nothing(edge, value, pick):
    start = claimed(edge.start, value)
    wanted = goals(edge)
    given = {name: each for name, each in wanted[pick % len(wanted)].items() if each is not None}
    implied = edge.follow(start, Goal(edge.end, given))
    if isinstance(implied, Refusal):
        assert implied.missing
        return
    assert str(implied)
    assert implied.sentence
    assert all(number >= 0 for number in implied.numbers.values())
    open_numbers = [number for name, number in implied.numbers.items() if name != "order" and name not in given]
    lost = value > 0 and open_numbers and not any(implied[name] for name in implied.numbers if name != "order")
    assert not lost or edge.end == "distortion"


@given(SIZES, SIZES)
def test_compositions_of_extreme_numbers(first, second):
    for notion in ("differential-privacy", "gaussian", "semantic"):
        claims = [Claim(notion, **{Claim.names(notion)[0]: value}) for value in (first, second)]
        if notion == "semantic" and max(first, second) >= 1:
            continue
        try:
            whole = compose(claims)
        except InputError:
            assert max(first, second) > 1e150
            continue
        assert next(iter(whole.numbers.values())) >= max(first, second)


def test_smallest_numbers_print_and_are_kept():
    assert str(Claim("differential-privacy", epsilon=5e-324)) == (
        "differential privacy with epsilon 5e-324, of any two secrets"
    )
    to_curve, back = (
        implications(start=a, end=b)[0]
        for a, b in (("differential-privacy", "trade-off"), ("trade-off", "differential-privacy"))
    )
    curve = to_curve.follow(Claim("differential-privacy", epsilon=7e-15), Goal("trade-off", {}))
    assert isinstance(curve, Claim)
    for wanted in ({}, {"delta": 0.0}):
        implied = back.follow(curve, Goal("differential-privacy", wanted))
        assert isinstance(implied, Claim)
        assert implied["epsilon"] >= 7e-15 or implied["delta"] >= math.tanh(3.5e-15)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4), st.floats(0, 3))
def test_curve_gives_no_less_than_its_pair_needs(weights, epsilon):
    """Rows that differ by less than the rounding of logarithms are not taken for equal."""
    if sum(weights) == 0:
        return
    p = np.array(weights) / sum(weights)
    q = p * np.where(np.arange(len(p)) % 2, 1 + 7e-15, 1 - 7e-15)
    q /= q.sum()
    back = implications(start="trade-off", end="differential-privacy")[0]
    implied = back.follow(
        Claim("trade-off", curve=TradeOff(p, q)), Goal("differential-privacy", {"epsilon": epsilon})
    )
    assert isinstance(implied, Claim)
    assert implied["delta"] >= math.fsum(max(0.0, b - math.exp(epsilon) * a) for a, b in zip(p, q, strict=True))


def test_values_beyond_all_floats_are_refused_in_words():
    with pytest.raises(InputError, match="larger than any float"):
        convert(Claim("gaussian", mu=1e160), to="concentrated-privacy")
    with pytest.raises(InputError, match="finite number"):
        Claim("differential-privacy", epsilon=10**400)
    with pytest.raises(InputError, match="a probability"):
        Claim("differential-privacy", epsilon=1.0, delta=1.5)


def test_equal_priors_are_equal():
    def prior():
        return Priors.of(sf.Prior(sf.Space("ab"), [0.25, 0.75]))

    claim = Claim("information", epsilon=1.0, priors=prior())
    assert claim.implies(Claim("information", epsilon=1.0, priors=prior()))
    others = [sf.Prior(sf.Space("ab"), [0.5, 0.5]), sf.Prior(sf.Space("ba"), [0.25, 0.75])]
    for other in others:
        assert not claim.implies(Claim("information", epsilon=1.0, priors=Priors.of(other)))
    assert convert(claim, to="aposteriori-noiseless", priors=prior()).claim["epsilon"] >= 1.0
