"""Requirements as users write them, held against entries made by hand."""

import json
import math

import pytest

from sfumato.audits import Audit, Entry, Outcome, Requirement
from sfumato.core import Bracket, Side
from sfumato.errors import InputError, UnitError

ENTRIES = (
    Entry(
        "metric-privacy",
        "metric privacy",
        "epsilon",
        Bracket(0.64999, 0.65, 0.65001),
        unit="km",
        per=True,
        is_proved=True,
    ),
    Entry(
        "differential-privacy",
        "differential privacy",
        "epsilon",
        Bracket(1.9999, 2.0, 2.0001),
        witness="a against b",
    ),
    Entry("differential-privacy", "at delta", "epsilon", Bracket(0.999, 1.0, 1.001), options={"delta": 1e-6}),
    Entry(
        "differential-privacy",
        "differential privacy",
        "delta",
        Bracket(0.0999, 0.1, 0.1001),
        options={"epsilon": 1.0},
    ),
    Entry("bayes-vulnerability", "Bayes vulnerability", "probability", Bracket(0.1199, 0.12, 0.1201)),
    Entry("distortion", "distortion privacy", "error", Bracket(0.8999, 0.9, 0.9001), Side.AT_LEAST, "km"),
    Entry("gaussian", "Gaussian", "mu", Bracket.exact(math.inf)),
)
AUDIT = Audit("a mechanism", ENTRIES)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("epsilon <= 0.7/km", "HOLDS"),
        ("epsilon <= 0.7 per km", "HOLDS"),
        ("epsilon<=0.6/km", "FAILS"),
        ("epsilon <= 0.0007/m", "HOLDS"),
        ("epsilon <= 0.65/km", "UNDECIDED"),
        ("epsilon <= 1.9", "FAILS"),
        ("epsilon ≤ 2.5", "HOLDS"),
        ("epsilon(delta=1e-6) <= 1.5", "HOLDS"),
        ("epsilon(delta=1e-6) <= 0.5", "FAILS"),
        ("delta(epsilon=1) <= 0.2", "HOLDS"),
        ("bayes_vulnerability <= 13 %", "HOLDS"),
        ("bayes vulnerability <= 0.1", "FAILS"),
        ("error >= 800 m", "HOLDS"),
        ("distortion >= 1 km", "FAILS"),
        ("mu <= 3", "FAILS"),
    ],
)
def test_outcomes(text, outcome):
    verdict = Requirement.parse(text).hold_against(AUDIT)
    assert verdict.outcome is Outcome[outcome]
    assert verdict.reason.endswith(".")


def test_a_failure_names_its_witness():
    assert "a against b" in Requirement.parse("epsilon <= 1").hold_against(AUDIT).reason


def test_samples_refute_but_never_prove():
    seen = Audit(
        "samples",
        (
            Entry(
                "differential-privacy", "DP", "epsilon", Bracket(1.0, 1.2, math.inf), Side.AT_LEAST, failure=0.05
            ),
        ),
    )
    assert Requirement.parse("epsilon <= 0.9").hold_against(seen).outcome is Outcome.FAILS
    verdict = Requirement.parse("epsilon <= 1.5").hold_against(seen)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "samples cannot prove it" in verdict.reason
    assert "confidence 0.95" in verdict.reason


@pytest.mark.parametrize(
    "text", ["", "epsilon", "epsilon = 1", "epsilon < 1", "<= 1", "epsilon(delta) <= 1", "epsilon <= x"]
)
def test_what_is_no_requirement(text):
    with pytest.raises(InputError, match="write it as"):
        Requirement.parse(text).hold_against(AUDIT)


def test_what_was_not_measured():
    with pytest.raises(InputError, match="no entry of the audit fit 'eta'"):
        Requirement.parse("eta <= 1").hold_against(AUDIT)
    with pytest.raises(InputError, match="no entry of the audit fit 'metric-privacy'"):
        Requirement.parse("epsilon <= 1/km").hold_against(Audit("m", ENTRIES[1:]))
    with pytest.raises(InputError, match="several entries"):
        Requirement.parse("probability <= 1").hold_against(Audit("m", (ENTRIES[4], ENTRIES[4])))
    with pytest.raises(UnitError):
        Requirement.parse("epsilon <= 1/s").hold_against(AUDIT)


def test_json_holds_infinities_as_text():
    assert json.loads(json.dumps(AUDIT.as_dict(), allow_nan=False))["entries"][6]["value"] == "inf"
