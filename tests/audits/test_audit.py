"""Audits of mechanisms, samples and black boxes: the known bad are flagged, the known good never."""

import math
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit_black_box
from sfumato.core import Bracket, CoordinatePrivacy, Side
from sfumato.errors import InputError
from sfumato.geo import Lattice
from sfumato.privacy import DifferentialPrivacy, Family, Relation
from tests.sampling.mechanisms import fix_seeds

from ..catalogue import CASES
from ..proofs.test_corpus import BAD, EPSILON, GOOD

CLAIM = Requirement.parse(f"epsilon <= {EPSILON}/step")


def held_against(matrix, distances, requirement=CLAIM):
    found = sf.audit(np.asarray(matrix), metric=sf.Metric(distances, "step"), deltas=())
    return requirement.hold_against(found)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", BAD)
def test_known_bad_is_flagged_with_a_witness_that_breaks_the_promise(name):
    matrix, distances, _ = BAD[name]
    verdict = held_against(matrix, distances)
    assert verdict.outcome is Outcome.FAILS
    names = verdict.entry.witness.replace("against", ",").replace("reports", ",").replace("report", ",")
    s, t, *reports = (int(part.strip(" {}")) for part in names.split(",") if part.strip(" {}").isdigit())
    p, q = matrix[s, reports].sum(), matrix[t, reports].sum()
    assert p > math.exp(EPSILON * distances[s, t]) * q


@pytest.mark.parametrize("name", GOOD)
def test_known_good_never_is(name):
    assert held_against(*GOOD[name]).outcome is Outcome.HOLDS


def test_semantic_privacy_is_of_the_worst_default_whatever_the_order_and_the_number_of_reports():
    rows = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert [sf.audit(each).find("semantic").value for each in (rows, rows[::-1])] == [1.0, 1.0]
    many = np.random.default_rng(0).dirichlet(np.ones(30), 4)
    ratio = (many.max(axis=0) / many.min(axis=0)).max()
    assert sf.audit(many).find("semantic").value == pytest.approx(math.tanh(math.log(ratio) / 4), rel=1e-12)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_entries_agree_with_each_other(case):
    found = sf.audit(
        case.mechanism, prior=case.prior, metric=case.metric, deltas=(1e-3,), also=["membership(prior=every)"]
    )
    pure = found.find("differential-privacy")
    with pytest.raises(InputError, match=r"no entry[\s\S]*\.find\('renyi-privacy', order=2\.0\)"):
        found.find("renyi-privacy")
    with pytest.raises(InputError, match=r"order=math\.inf"):
        sf.audit(case.mechanism, orders=[2, math.inf]).find("renyi-privacy")
    for entry in found:
        assert entry.bracket.lower <= entry.bracket.upper
        assert entry.title
        assert entry.sentence
        assert entry.source
    at_delta = found.find("differential-privacy", delta=1e-3)
    assert at_delta.value <= pure.value
    assert found.find("probabilistic-differential-privacy", delta=1e-3).value >= at_delta.value - 1e-12
    assert found.find("bounded-range").value <= 2 * pure.value + 1e-12
    assert found.find("kl-privacy").value <= pure.value * math.tanh(min(pure.value, 700) / 2) + 1e-9
    spread = found.find("divergence-privacy", of="total-variation")
    assert spread.value <= math.tanh(pure.value / 2) + 1e-9
    every = found.find("membership", prior="every")
    assert every.value == pytest.approx(pure.value, rel=1e-9)
    metric = found.find("metric-privacy")
    assert metric.value == pytest.approx(case.epsilon, rel=1e-6, abs=1e-9)
    if math.isfinite(metric.value):
        assert metric.is_proved
        assert metric.bracket.upper >= case.epsilon * (1 - 1e-6)
    assert found.find("bayes-vulnerability").value >= case.prior.probabilities.max() - 1e-12


def test_a_relation_and_a_family_narrow_what_is_compared():
    line = sf.Space.numbers(range(4))
    mechanism = sf.mechanisms.geometric(line, 0.5)
    steps = Relation.of_radius(line.metric("absolute"), 1)
    young, old = sf.Prior(line, [0.5, 0.5, 0, 0]), sf.Prior(line, [0, 0, 0.5, 0.5])
    found = sf.audit(mechanism, relation=steps, family=Family({"young": young, "old": old}), deltas=())
    assert found.find("differential-privacy").value == pytest.approx(0.5, rel=1e-6)
    apart = found.find("distribution-privacy")
    assert 0.5 < apart.value < 1.5
    assert "young against old" in apart.witness or "old against young" in apart.witness
    assert DifferentialPrivacy(steps).holds(mechanism, 0.5)


def test_samples_are_bounded_from_below_and_refuse_what_needs_a_matrix(monkeypatch):
    fix_seeds(monkeypatch)
    rng = np.random.default_rng(3)
    secrets = rng.integers(0, 2, 20_000)
    outputs = np.where(rng.random(20_000) < 0.75, secrets, 1 - secrets)
    sample = sf.Sample.of(secrets.tolist(), outputs.tolist(), space=sf.Space([0, 1]))
    found = sf.audit(sample, deltas=(0.1,), failure=1e-6)
    lower = found.find("differential-privacy").bracket.lower
    assert 0.8 * math.log(3) < lower < math.log(3)
    assert found.find("differential-privacy", delta=0.1).value < lower
    assert Requirement.parse("epsilon <= 0.9").hold_against(found).outcome is Outcome.FAILS
    assert Requirement.parse("epsilon <= 1.2").hold_against(found).outcome is Outcome.UNDECIDED
    with pytest.raises(InputError, match="relation was given for samples"):
        sf.audit(sample, relation=Relation.all(2))


def test_a_black_box_that_keeps_its_claim_is_not_accused(monkeypatch):
    fix_seeds(monkeypatch)
    honest = sf.sampler(sf.mechanisms.randomised_response(sf.Space(range(3)), 1.0))
    found = audit_black_box(lambda s: int(honest.draw([s])[0]), range(3), 1.0, failure=1e-6, limit=8_000)
    assert not found.is_refuted
    assert found.is_fresh


def test_all_calls_of_a_black_box_are_accounted_for(monkeypatch):
    fix_seeds(monkeypatch)
    honest = sf.sampler(sf.mechanisms.randomised_response(sf.Space(range(2)), 1.0))
    text = str(audit_black_box(lambda s: int(honest.draw([s])[0]), range(2), 3.0, limit=2_000).audit)
    first, further = (re.search(each, text) for each in (r"After (\d+) calls", r"(\d+) further calls"))
    assert first
    assert further
    assert f"called {int(first[1]) + int(further[1]):,} times" in text


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["ignores epsilon", "memo", "cycle"])
def test_black_boxes_that_do_not_are(kind, monkeypatch):
    fix_seeds(monkeypatch)
    drawer = sf.simulator(sf.mechanisms.randomised_response(sf.Space(range(3)), 1.0), seed=5)
    memo = drawer.draw(np.arange(3))
    calls = iter(range(10**9))
    box = {
        "ignores epsilon": lambda s: s,
        "memo": lambda s: int(memo[s]),
        "cycle": lambda s: next(calls) // 3 % 3,
    }[kind]
    found = audit_black_box(box, range(3), 1.0, failure=1e-3, limit=8_000)
    assert found.is_refuted
    assert found.is_fresh is (kind == "ignores epsilon" and not found.decision.repetition)


def test_points_on_a_lattice_are_measured_too():
    """The slope between points of the true supremum, which the design uses up; vertices alone say less."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    made = sf.design(
        sf.Prior.uniform(lattice),
        loss=lattice.metric("euclidean", "km"),
        guarantees=CoordinatePrivacy("1.5/km"),
        method="table",
        tie_break=False,
    )
    found = sf.audit(made.mechanism)
    entry = found.find("coordinate-privacy")
    assert 1.49 < entry.bracket.lower <= entry.number <= 1.5
    assert (entry.unit, entry.side) == ("km", Side.AT_MOST)
    assert "report x" in entry.witness
    for claim, outcome in (("1.5/km", Outcome.HOLDS), ("1.4/km", Outcome.FAILS)):
        assert Requirement.parse(f"coordinate-privacy <= {claim}").hold_against(found).outcome is outcome


def test_a_promise_that_is_proved_is_not_undecided_for_rounding(monkeypatch):
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    prior, loss = sf.Prior.uniform(lattice), lattice.metric("euclidean", "km")
    made = sf.design(prior, loss=loss, guarantees=CoordinatePrivacy("1.5/km"), method="table", tie_break=False)
    above = Bracket(1.5 * (1 + 2e-10), 1.5 * (1 + 3e-10), 1.5 * (1 + 4e-10))
    monkeypatch.setattr("sfumato.audits.measures.epsilon_between_points", lambda *_: above)
    bare = sf.Mechanism(made.mechanism.matrix, lattice, made.mechanism.observables)
    claim = Requirement.parse("epsilon <= 1.5/km")
    for mechanism, outcome in ((made.mechanism, Outcome.HOLDS), (bare, Outcome.FAILS)):
        assert claim.hold_against(sf.audit(mechanism)).outcome is outcome


@pytest.mark.slow
def test_two_points_across_a_bay_are_nearer_than_any_way_between_them():
    """A report grows likelier along a U: its slope is that of .3/km, but its tips are told apart by far more."""
    arms = [(a, b) for b in range(14) for a in (*range(3), *range(5, 8))]
    vertices = sorted({*arms, *((a, b) for a in range(8) for b in range(3))})
    lattice = Lattice(vertices, 500.0, (-1750.0, -3000.0), sf.geo.Projection(48.85, 2.35).crs)
    along = np.array([(b - 2 if b > 2 else 0) * (1 if a >= 4 else -1) for a, b in vertices]) / 2
    likely = np.exp(0.3 * along) / np.exp(0.3 * along).max() / 2
    mechanism = sf.Mechanism(np.column_stack([likely, 1 - likely]), lattice)

    lat, lon = lattice.latlon[[vertices.index((1, 12)), vertices.index((6, 12))]].T
    tips = lattice.rounding(lat, lon)
    seen = np.einsum("ij,ijk->ik", tips.shares, mechanism.matrix[tips.positions])
    away_km = 2.5
    rate = np.abs(np.log(seen[0] / seen[1])).max() / away_km
    assert rate > 1.1

    slope = sf.proofs.steepest(mechanism).epsilon
    assert slope.upper < 0.31
    found = sf.audit(mechanism)
    entry = found.find("coordinate-privacy")
    assert entry.bracket.lower <= slope.upper
    assert entry.bracket.upper >= rate
    for claim in ("0.31/km", "1/km"):
        verdict = Requirement.parse(f"coordinate-privacy <= {claim}").hold_against(found)
        assert verdict.outcome is Outcome.UNDECIDED
    assert Requirement.parse("coordinate-privacy <= 3/km").hold_against(found).outcome is Outcome.HOLDS


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("kind", "epsilon"), [("square", 0.2), ("triangular", 1.3), ("square", 2.9)])
def test_designs_around_a_bay_keep_what_they_promise(kind, epsilon):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 6, (2, 400))
    bent = (x < 2) | (y < 2)
    visits = sf.Visits(48.8 + y[bent] / 111.2, 2.3 + x[bent] / 73.2)
    lattice = Lattice.covering(visits, "1 km", kind=kind, near="400 m")
    assert not lattice.convex
    made = sf.design(
        sf.Prior.from_visits(lattice, visits),
        loss=lattice.loss(visits),
        guarantees=CoordinatePrivacy(epsilon),
        method="table",
        gap=1e-3,
        tie_break=False,
    )
    slope = sf.proofs.steepest(made.mechanism)
    least = sf.proofs.epsilon_between_points(made.mechanism, slope)
    assert slope.epsilon.lower <= least.lower <= least.upper <= epsilon
    assert least.upper > 0.99 * epsilon


def test_a_lattice_whose_reports_say_nothing_has_epsilon_0():
    lattice = sf.Lattice.covering("8 km x 6 km around 48.85,2.35", "4 km")
    rows = np.zeros((len(lattice), len(lattice)))
    rows[:, 1] = 1
    entry = sf.audit(sf.Mechanism(rows, lattice, lattice)).find("coordinate-privacy")
    assert entry.bracket.upper == 0
    assert entry.sentence == "Each report is equally likely from all points that the lattice serves."
