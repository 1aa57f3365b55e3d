"""Every notion can be asked for, by name and with what it holds fixed, and has the value of its definition."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Request, Requirement
from sfumato.audits.request import request_name
from sfumato.errors import InputError
from sfumato.privacy import KINDS, VOCABULARY, Events, Family, Relation, Rivals, TradeOff
from sfumato.transport import wasserstein
from tests.sampling.mechanisms import fix_seeds

SPACE = sf.Space.numbers(range(3), unit="km")
STEPS = SPACE.metric("absolute")
ROWS = np.array([[0.5, 0.3, 0.2, 0.0], [0.3, 0.4, 0.3, 0.0], [0.2, 0.3, 0.5, 0.0]])
MECHANISM = sf.Mechanism(ROWS, SPACE)
PRIOR = sf.Prior(SPACE, [0.5, 0.25, 0.25])
LOW, HIGH = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.5, 0.5])
GIVEN: dict[str, Any] = {
    "prior": PRIOR,
    "metric": STEPS,
    "relation": Relation.of_radius(STEPS, 1),
    "events": Events([[True, False, False], [False, True, True]], attribute=True),
    "rivals": Rivals.of_pairs(SPACE, [([0], [2])]),
    "family": Family({"low": LOW, "high": HIGH}),
    "interventions": [np.array([[0, 0, 0], [2, 2, 2]])],
    "curve": TradeOff.of_epsilon(0.2),
}
USED = ROWS[:, :3]
SETS = [list(each) for size in (1, 2, 3) for each in combinations(range(3), size)]


def excess(p, q, epsilon):
    """The largest advantage of any set of reports, by trying all."""
    return max(p[S].sum() - math.exp(epsilon) * q[S].sum() for S in SETS)


def log_ratio(p, q):
    return float(np.abs(np.log(p / q)).max())


def pairs(relation):
    return [(USED[s], USED[t]) for s, t in relation.pairs]


NEAR, ALL = GIVEN["relation"], Relation.all(3)
MEAN_LOW, MEAN_HIGH = LOW @ USED, HIGH @ USED
INSIDE = (PRIOR.probabilities[1:] / PRIOR.probabilities[1:].sum()) @ USED[1:]

# What is asked, and its value by the definition.
ASKED = [
    ("differential-privacy", max(log_ratio(p, q) for p, q in pairs(NEAR))),
    ("differential-privacy(epsilon=0.3)", max(excess(p, q, 0.3) for p, q in pairs(NEAR))),
    ("delta(epsilon=0.3)", max(excess(p, q, 0.3) for p, q in pairs(NEAR))),
    ("metric-privacy", max(log_ratio(USED[s], USED[t]) / abs(s - t) for s, t in ALL.pairs)),
    ("renyi-privacy(order=8)", max(math.log((p**8 * q**-7.0).sum()) / 7 for p, q in pairs(NEAR))),
    ("renyi-privacy(order=inf)", max(log_ratio(p, q) for p, q in pairs(NEAR))),
    ("divergence-privacy(of=total-variation)", max(abs(p - q).sum() / 2 for p, q in pairs(NEAR))),
    ("divergence-privacy(of=kl)", max((p * np.log(p / q)).sum() for p, q in pairs(NEAR))),
    ("divergence-privacy(of=reverse-kl)", max((q * np.log(q / p)).sum() for p, q in pairs(NEAR))),
    (
        "divergence-metric-privacy(of=chi-square)",
        max(((USED[s] - USED[t]) ** 2 / USED[t]).sum() / abs(s - t) for s, t in ALL.pairs),
    ),
    ("rise", np.log(USED[0] / INSIDE).max()),
    ("fall", np.log(INSIDE / USED[0]).max()),
    ("inferential", log_ratio(USED[0], INSIDE)),
    ("identity", log_ratio(USED[0], INSIDE)),
    ("indistinguishable", max(log_ratio(p, q) for p, q in pairs(NEAR))),
    ("pufferfish", log_ratio(USED[0], USED[2])),
    ("causal", log_ratio(USED[0], USED[2])),
    # Both settings hide the secret, so that the belief after them is the prior.
    ("inference-based-causal", log_ratio(USED, PRIOR.probabilities @ USED)),
    ("membership(prior=every)", log_ratio(USED[0], USED[[1, 2]].max(axis=0))),
    ("distribution-privacy", log_ratio(MEAN_LOW, MEAN_HIGH)),
    (
        "metric-distribution-privacy",
        log_ratio(MEAN_LOW, MEAN_HIGH) / wasserstein(LOW, HIGH, STEPS, p=math.inf).distance.value,
    ),
    ("metric-distribution-privacy(order=1)", log_ratio(MEAN_LOW, MEAN_HIGH) / 1.5),
    ("divergence-distribution-privacy(of=total-variation)", abs(MEAN_LOW - MEAN_HIGH).sum() / 2),
    ("divergence-metric-distribution-privacy(of=total-variation, order=1)", abs(MEAN_LOW - MEAN_HIGH).sum() / 3),
    ("probabilistic-distribution-privacy(delta=0.0)", log_ratio(MEAN_LOW, MEAN_HIGH)),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("text", "value"), ASKED, ids=[text for text, _ in ASKED])
def test_a_notion_that_is_asked_for_has_the_value_of_its_definition(text, value):
    if text == "membership(prior=every)":  # any prior on the secrets of which the fact is false
        value = max(log_ratio(USED[0], USED[1]), log_ratio(USED[0], USED[2]))
    found = sf.audit(MECHANISM, **GIVEN, also=[text])
    request = Request.parse(text)
    entry = found.find(request.name, **request.options)
    assert entry.value == pytest.approx(value, rel=1e-9)
    suffix = f"/{entry.unit}" if entry.per else ""
    above, below = (
        Requirement.parse(f"{text} <= {float(value) * factor!r}{suffix}") for factor in (1 + 1e-6, 1 - 1e-6)
    )
    assert above.hold_against(found).outcome is Outcome.HOLDS
    assert below.hold_against(found).outcome is Outcome.FAILS


def test_every_key_of_the_catalogue_can_be_reached():
    """All that was given is used without a name; the rest is a name away."""
    bare = {entry.key for entry in sf.audit(MECHANISM, **GIVEN)}
    by_name = [request_name(kind.description.key, kind.parameter) for kind in KINDS if kind.on_request]
    named = {entry.key for entry in sf.audit(MECHANISM, **GIVEN, also=sorted({*by_name} - bare))}
    assert named > bare
    assert named >= set(VOCABULARY)


def test_orders_deltas_and_epsilons_are_given_at_once():
    found = sf.audit(MECHANISM, orders=(1, 4), delta_at=(0.2,), deltas=(0.01,))
    fixed: list[tuple[str, dict[str, float]]] = [
        ("renyi-privacy", {"order": 1}),
        ("renyi-privacy", {"order": 4}),
        ("differential-privacy", {"epsilon": 0.2}),
        ("differential-privacy", {"delta": 0.01}),
    ]
    for name, given in fixed:
        assert found.find(name, **given).value > 0
    assert found.find("renyi-privacy", order=1).value == pytest.approx(found.find("kl-privacy").value, rel=1e-12)
    assert found.find("divergence-privacy", of="total variation") is found.find(
        "divergence-privacy", of="total-variation"
    )


def test_what_is_named_twice_is_measured_once():
    found = sf.audit(MECHANISM, also=["renyi-privacy(order=2)", "renyi-privacy(order=2)", "gaussian"])
    names = [entry.name for entry in found]
    assert len(names) == len(set(names)) == len(sf.audit(MECHANISM))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("divergence-privacy", r"is ambiguous.*\n.*divergence-privacy\(of=total-variation\)"),
        ("renyi-privacy", r"is ambiguous.*\n.*renyi-privacy\(order=2\)"),
        ("event-ratio", r"is ambiguous.*\n.*rise, fall"),
        ("delta", r"is ambiguous.*\n.*differential-privacy\(epsilon=0\)"),
        ("renyi-privacy(order=2, delta=0.1)", "renyi-privacy has no delta"),
        ("kl-privacy(of=kl)", "kl-privacy has no of"),
        ("renyi-privacy(order=0)", "not positive"),
        ("renyi-privacy(order=two)", "order"),
        ("renyi-privacy(ordre=2)", "'ordre'"),
        ("renyi-privacy(order)", "gives no value"),
        ("renyi-privacy(order=2, order=3)", "given twice"),
        ("divergence-privacy(of=nothing)", "no divergence is called 'nothing'"),
        ("membership(prior=mine)", "prior=mine"),
        ("reny-privacy(order=2)", "did you mean renyi-privacy"),
        ("zzz", "no notion or measure is called 'zzz'"),
        ("", "names no notion"),
        ("metric-privacy", r"without a metric.*\n.*metric="),
        ("distribution-privacy", "without a family of distributions"),
        ("metric-distribution-privacy", "without a family of distributions and a metric"),
        ("trade-off", "without a curve"),
        ("causal", "without interventions"),
        ("error", "without a prior and a metric"),
        ("bayes-vulnerability", "without a prior"),
        ("differential-privacy(delta=2)", "delta"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is(text, message):
    def never(entry):
        raise AssertionError(entry)

    with pytest.raises(InputError, match=message):
        sf.audit(ROWS, also=[text], progress=never)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deltas": (-1,)}, "-1 was given as a delta"),
        ({"delta_at": (-0.5,)}, "-0.5"),
        ({"deltas": (math.nan,)}, "nan"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sf.audit(ROWS, **arguments)
    sample = sf.Sample.of([0, 1] * 50, [0, 1] * 50)
    with pytest.raises(InputError, match=message):
        sf.audit(sample, **arguments)


def test_samples_are_looked_at_where_a_requirement_asks(monkeypatch):
    fix_seeds(monkeypatch)
    rng = np.random.default_rng(3)
    secrets = rng.integers(0, 2, 5000)
    outputs = np.where(rng.random(5000) < 0.75, secrets, 1 - secrets)
    sample = sf.Sample.of(secrets.tolist(), outputs.tolist(), space=sf.Space([0, 1]))
    requirement = Requirement.parse("differential-privacy(epsilon=0.5) <= 0.1")  # 3/4 - sqrt(e)/4 = .34
    found = sf.audit(sample, also=[requirement.request], failure=1e-6)
    assert requirement.hold_against(found).outcome is Outcome.FAILS
    with pytest.raises(InputError, match="family was given for samples"):
        sf.audit(sample, family=Family({"a": [1.0, 0.0], "b": [0.0, 1.0]}))


def test_an_audit_is_short_where_it_is_named_and_readable_where_it_is_printed():
    found = sf.audit(MECHANISM, **GIVEN)
    assert len(repr(found)) < 150
    assert f"{len(found)} entries" in repr(found)
    lines = str(found).splitlines()
    assert len(lines) == 1 + len(found) + len(found.notes)
    assert max(map(len, lines)) < 200
    assert lines[1].startswith("  Differential privacy: epsilon 0.5")
    assert repr(found.find("metric-privacy")).startswith("Entry(metric-privacy: epsilon ")
    assert "/km" in str(found.find("metric-privacy"))
    verdict = Requirement.parse("epsilon <= 9").hold_against(found)
    assert len(repr(verdict)) < 400


def test_the_note_on_many_reports_holds_for_points_and_claims_nothing_for_beliefs():
    """Two reports together give the parity of two fair bits away, of which each alone says nothing."""
    bits = [(0, 0), (0, 1), (1, 0), (1, 1)]
    space = sf.Space(bits)
    first, second = (np.array([[1.0 - bit[k], bit[k]] for bit in bits]) for k in range(2))
    parity = Events([[a ^ b == 0 for a, b in bits], [a ^ b == 1 for a, b in bits]], attribute=True)
    given: dict[str, Any] = {"prior": sf.Prior.uniform(space), "events": parity}
    both = np.stack([np.outer(p, q).ravel() for p, q in zip(first, second, strict=True)])
    alone = [sf.audit(sf.Mechanism(each, space), **given) for each in (first, second)]
    assert [found.find("noiseless").value for found in alone] == [0.0, 0.0]
    together = sf.audit(sf.Mechanism(both, space), **given)
    assert together.find("noiseless").value == math.inf
    assert "under a prior may grow by more" in str(together)
    soft = 0.8 * MECHANISM.matrix + 0.2 * MECHANISM.matrix.mean(axis=0)
    twice = np.stack([np.outer(p, q).ravel() for p, q in zip(MECHANISM.matrix, soft, strict=True)])
    epsilons = [
        sf.audit(sf.Mechanism(rows, SPACE)).find("differential-privacy").number
        for rows in (MECHANISM.matrix, soft, twice)
    ]
    assert epsilons[2] <= epsilons[0] + epsilons[1] + 1e-9
