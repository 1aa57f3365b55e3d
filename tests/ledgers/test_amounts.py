"""Amounts: exact, and where they cannot be, charges are rounded up and limits down."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.units import parse_exactly
from sfumato.errors import InputError, UnitError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, Charge, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

MILE_KM = Fraction(1609344, 10**6)
LINE = sf.Space.numbers([0, 1, 2, 3], "km")


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0.1/km", Fraction(1, 10)),
        ("0.0001/m", Fraction(1, 10)),
        ("0.00021/m", Fraction(21, 100)),  # 0.00021 x 1000 is 0.21000000000000002 in floats
        ("0.10000000000000000000000001/km", Fraction(10**25 + 1, 10**26)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (3, Fraction(3)),
    ],
)
def test_what_ends_as_a_decimal_is_exact(tmp_path, text, exact):
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    assert ledger.charge("ada", text).spent == exact
    assert Ledger.create(tmp_path / "m.db", text, unit="km").balance("ada").left == exact


def test_what_does_not_is_charged_a_little_more_and_allowed_a_little_less(tmp_path):
    """One per mile is 0.6213711922373339... per kilometre."""
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    spent = ledger.charge("ada", "1/mi").spent
    assert 0 < spent - 1 / MILE_KM < Fraction(1, 10**49)
    limit = Ledger.create(tmp_path / "m.db", "1/mi", unit="km").balance("ada").left
    assert 0 < 1 / MILE_KM - limit < Fraction(1, 10**49)
    assert ledger.check().sound


@given(st.floats(1e-30, 1e30), st.sampled_from(["m", "km", "mi", "ft"]), st.sampled_from(["m", "km", "nmi"]))
def test_units_convert_exactly(value, source, target):
    text = f"{value!r}/{source}"
    exact = parse_exactly(text, per=True, unit=target, subject="it")
    factor = Fraction(repr(sf.core.units.factor(source, "m"))) / Fraction(repr(sf.core.units.factor(target, "m")))
    assert exact * factor == Fraction(repr(value))
    assert math.isclose(exact, sf.core.units.parse(text, per=True, unit=target, subject="it"), rel_tol=1e-15)


@pytest.mark.parametrize(
    "text", ["1e-999999999/km", "0e-999999999/km", "1e999999999/km", "0." + "1" * 5000 + "/km"]
)
def test_hostile_texts_are_refused_at_once(tmp_path, text):
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    with pytest.raises((InputError, UnitError)):
        ledger.charge("ada", text)
    with pytest.raises((InputError, UnitError)):
        Ledger.create(tmp_path / "m.db", text)


@pytest.mark.parametrize("bad", ["NaN", "sNaN", "Infinity", "0", "-1", "1e31", "1e-31"])
def test_decimals_are_amounts_within_the_bounds(tmp_path, bad):
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    assert ledger.charge_many([Charge("ada", Decimal("0.1"), 3)])
    assert ledger.balance("ada").spent == Fraction(3, 10)
    with pytest.raises((InputError, UnitError)):
        ledger.charge_many([Charge("bob", Decimal(bad))])
    assert ledger.users == ("ada",)


class TestOfReports:
    @pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1, 0.2])
    def test_the_decimal_that_is_charged_is_proved(self, tmp_path, epsilon):
        """The float 0.1 is more than 1/10: what is charged must not be less than what is proved."""
        ledger = Ledger.create(tmp_path / "l.db", "9/km")
        noise = CoordinateNoise(epsilon, "2 m", Projection(48.86, 2.34), "30 km")
        tight = sf.mechanisms.geometric(LINE, epsilon)
        for drawable, promise in ((noise, noise.promise), (tight, sf.MetricPrivacy(epsilon, LINE.metric()))):
            app = Blur(drawable, ledger, promise)
            assert app.charge == Decimal(repr(epsilon))
            assert app.charge_for("ada", 2).epsilon == app.charge
        weights = tight.weights.tolist()
        worst = max(
            (Fraction(weights[s][o], weights[t][o]), abs(s - t))
            for s in range(4)
            for t in range(4)
            for o in range(4)
            if s != t
        )
        assert math.log(worst[0]) / worst[1] <= epsilon * (1 + 1e-14)

    def test_where_only_the_float_is_proved_the_next_decimal_is_charged(self, tmp_path):
        """Randomised response in two words, whose epsilon is between 1/10 and the float 0.1."""
        exact = Context(prec=60)
        between = exact.divide(Decimal("0.1") + Decimal.from_float(0.1), Decimal(2))
        odds = exact.exp(between)
        truth = int(exact.multiply(exact.divide(odds, odds + 1), Decimal(2**126)))
        weights = np.array([[truth, 2**126 - truth], [2**126 - truth, truth]], dtype=object)
        real = exact.ln(exact.divide(Decimal(truth), Decimal(2**126 - truth)))
        assert Decimal("0.1") < real < Decimal.from_float(0.1)
        pair = sf.Space("ab")
        app = Blur(
            sf.Mechanism.from_weights(weights, 126, pair, pair),
            Ledger.create(tmp_path / "l.db", "9", unit=""),
            sf.MetricPrivacy(0.1, sf.hamming(pair)),
        )
        assert app.charge == Decimal("0.10000000000000001") >= Decimal.from_float(0.1)
        app.draw("ada", 0)
        assert app.ledger.balance("ada").spent == Fraction(app.charge) >= Fraction(real)
        assert "charged 0.10000000000000001" in app.sentence
