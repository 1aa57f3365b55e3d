"""Every implication of the atlas on random mechanisms, and its least values attained."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sfumato.core import Metric, MetricPrivacy, Prior
from sfumato.divergences import HockeyStick, MaxDivergence, Renyi
from sfumato.errors import InputError
from sfumato.privacy import (
    ATLAS,
    NOTION_KEYS,
    Claim,
    Priors,
    Relation,
    Rivals,
    Tightness,
    TradeOff,
    implications,
    table,
)
from sfumato.privacy.atlas import Goal, Refusal, convert

from ...catalogue import geometric, line, randomised_response, unused
from ..brute import channels as random_channels
from .claimed import DIVERGENCES, halves, line_relation, ratios, rho_above, satisfied, true_value

N = 4
SPACE, HALVES = halves(N)
NEAR = line_relation(N)
EVERY_PAIR = Relation.all(N)
ONE_WAY = Relation(np.eye(N, k=1, dtype=bool), "one step up")
LINE = Metric(line(N))
SPREAD = Metric(np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0])))
SKEWED = Prior(SPACE, [0.5, 0.2, 0.3, 0.0])
FULL = Prior(SPACE, [0.4, 0.3, 0.2, 0.1])
PRIORS = (Priors.of(FULL), Priors.of(SKEWED))
MAPS = np.zeros((1, N), dtype=int)
SWAP = np.array([[1, 0, 3, 2]])
SETTING = (np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),)


def mechanisms(seed):
    rng = np.random.default_rng(seed)
    return [
        unused(rng.dirichlet(np.full(3, 1.0), N)),
        unused(geometric(N, 0.6)),
        *random_channels(rng, 4),
    ]


def contexts(notion):
    """Contexts and fixed numbers in which claims of a notion are made."""
    relations = [{"relation": each} for each in (None, NEAR, ONE_WAY)]
    beliefs = [Priors.all(), Priors.of(SKEWED), Priors.of(FULL), Priors.of_range(0.3, 0.6)]
    facts = [{"priors": priors, "events": events} for priors in beliefs for events in (None, HALVES)]
    match notion:
        case "differential-privacy" | "probabilistic-differential-privacy":
            return [{**each, "delta": delta} for each in relations for delta in (0.0, 0.05)]
        case "distribution-privacy" | "probabilistic-distribution-privacy":
            return [{**each, "delta": delta} for each in relations[:2] for delta in (0.0, 0.05)]
        case "metric-privacy":
            pairs = [{"metric": each, "relation": NEAR} for each in (LINE, SPREAD)]
            return pairs + [{"metric": each, "delta": delta} for each in (LINE, SPREAD) for delta in (0.0, 0.05)]
        case "divergence-privacy" | "divergence-distribution-privacy":
            return [{**each, "divergence": name} for each in relations[:2] for name in DIVERGENCES]
        case "divergence-metric-privacy":
            return [{"metric": SPREAD, "divergence": name} for name in DIVERGENCES]
        case "divergence-metric-distribution-privacy":
            return [{"metric": SPREAD, "divergence": "KL divergence", "order": order} for order in (1.0, 2.0)]
        case "metric-distribution-privacy":
            return [{"metric": SPREAD, "order": order, "delta": 0.0} for order in (1.0, math.inf)]
        case "renyi-privacy":
            return [{**each, "order": order} for each in relations for order in (1.5, 3.0, math.inf)]
        case "semantic":
            return [{"maps": maps, "possible": True} for maps in (MAPS, SWAP)]
        case "causal" | "inference-based-causal":
            return [{"priors": priors, "interventions": SETTING} for priors in (Priors.all(), Priors.of(FULL))]
        case "information":
            return [{"priors": priors} for priors in beliefs[:3]]
        case "noiseless" | "aposteriori-noiseless" | "inferential" | "identity" | "membership":
            return facts[:6] if notion != "membership" else facts
        case "positive-membership" | "negative-membership":
            return facts
        case "event-ratio":
            return [*facts[:6], {"priors": Priors((FULL,), (0.0, 1.0)), "events": None}]
        case "adversarial":
            return [{**each, "delta": delta} for each in facts for delta in (0.0, 0.02)]
        case "pufferfish":
            return [{"priors": Priors.of(FULL), "rivals": each} for each in (None, HALVES)]
        case _:
            return relations


def by_lipschitz(rows, metric):
    """An epsilon per Wasserstein distance of order 1: ln(a / b) <= (a - b) / b, and a - b is a Lipschitz mean."""
    used = rows[:, rows.any(axis=0)]
    slopes = np.abs(used[:, None, :] - used[None, :, :]) / (metric.array + np.eye(N))[:, :, None]
    with np.errstate(divide="ignore"):
        return float((slopes.max(axis=(0, 1)) / used.min(axis=0)).max())


def claims(notion, rows, rng):
    """True claims of a notion about a mechanism, with the least values that it satisfies."""
    found = []
    for context in contexts(notion):
        if notion == "trade-off":
            found.append(Claim(notion, curve=TradeOff.of(rows, context["relation"]), **context))
            continue
        if notion == "event-ratio":
            rise, fall = ratios(rows, context["priors"], context["events"])
            found.append(Claim(notion, rise=rise, fall=fall, **context))
            continue
        first = Claim(notion, **dict.fromkeys(Claim.names(notion)[:1], 1.0), **context)
        # Distributions are measured on samples only; the claim about secrets is as strong.
        source = {
            "distribution-privacy": "differential-privacy",
            "probabilistic-distribution-privacy": "differential-privacy",
            "divergence-distribution-privacy": "divergence-privacy",
            "metric-distribution-privacy": "metric-privacy",
        }.get(notion)
        if source is None:
            value = true_value(first, rows, rng)
        else:
            kept = {name: context[name] for name in context if name in Claim.names(source)}
            delta = {"delta": 0.0} if notion == "probabilistic-distribution-privacy" else {}
            value = true_value(Claim(source, epsilon=1.0, **{**kept, **delta}), rows, rng)
        if notion == "divergence-metric-distribution-privacy":
            value = true_value(
                Claim("divergence-metric-privacy", epsilon=1.0, divergence="KL divergence", metric=SPREAD),
                rows,
                rng,
            )
        if notion == "metric-distribution-privacy" and context["order"] != math.inf:
            value = by_lipschitz(rows, context["metric"])
        if notion == "concentrated-privacy":
            value = rho_above(rows, context["relation"])
        if notion == "semantic":
            possible = all((rows[images] > 0)[rows > 0].all() for images in context["maps"])
            first = first.with_values(possible=possible)
        if math.isfinite(value):
            found.append(first.with_values(**{next(iter(first.numbers)): max(value, 0.0) * (1 + 1e-12)}))
    if notion == "differential-privacy":
        variation = true_value(Claim("divergence-privacy", epsilon=1.0, divergence="total variation"), rows, rng)
        found.append(Claim(notion, epsilon=0.0, delta=variation))
    return found


def goals(edge):
    """Questions that may be asked of the notion at the end of an edge."""
    match edge.end:
        case "differential-privacy":
            numbers: list[dict[str, float]] = [{}, {"delta": 0.1}, {"epsilon": 0.2}]
            return [{**each, "relation": relation} for each in numbers for relation in (None, NEAR, EVERY_PAIR)]
        case "probabilistic-differential-privacy" | "probabilistic-distribution-privacy":
            return [{}, {"delta": 0.2}, {"epsilon": 1.5}]
        case "metric-privacy":
            return [{"metric": each} for each in (LINE, SPREAD)]
        case "divergence-privacy":
            return [{"divergence": name} for name in DIVERGENCES]
        case "renyi-privacy":
            return [{"order": order} for order in (1.0, 1.2, 2.0, math.inf)]
        case "metric-distribution-privacy" | "divergence-metric-distribution-privacy":
            return [{"order": order} for order in (2.0, math.inf)]
        case "distribution-privacy":
            return [{"relation": NEAR}, {}]
        case "pufferfish":
            rivals = Rivals.of_pairs(SPACE, [(["s0"], ["s2", "s3"])])
            return [{"priors": Priors.of(FULL), "rivals": rivals}, {}]
        case "semantic":
            return [{"maps": MAPS}, {"maps": SWAP}]
        case "causal" | "inference-based-causal":
            return [{"interventions": SETTING, "priors": Priors.of(FULL)}, {"interventions": SETTING}]
        case "distortion":
            return [{"distance": LINE, "priors": each} for each in PRIORS]
        case "adversarial":
            base: list[dict[str, object]] = [
                {"priors": None},
                {"priors": Priors.of(FULL)},
                {"priors": Priors.of_range(0.1, 0.2)},
            ]
            return [{**each, **number} for each in base for number in ({}, {"epsilon": 0.1}, {"delta": 0.03})]
        case "event-ratio":
            return [{"events": HALVES}, {"priors": Priors((FULL,), (0.0, 1.0))}]
        case "positive-membership" | "negative-membership" | "membership" | "noiseless":
            return [{}, {"priors": Priors.of(FULL), "events": HALVES}, {"priors": Priors.of_range(0.1, 0.8)}]
        case _:
            return [{}]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("edge", ATLAS[::3], ids=lambda edge: edge.name)
def test_edge_on_random_mechanisms(edge):
    check(edge, 11, mechanisms(11)[::2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100, 101])
@pytest.mark.parametrize("edge", ATLAS, ids=lambda edge: edge.name)
def test_edge_on_many_random_mechanisms(edge, seed):
    check(edge, seed, mechanisms(seed))


def check(edge, seed, channels):
    rng = np.random.default_rng(seed)
    outcomes: Counter[type] = Counter()
    for rows in channels:
        starts = claims(edge.start, rows, rng)
        if edge.name == "information-to-distortion":
            starts = [
                start.with_values(priors=each)
                for start in starts
                for each in PRIORS
                if start.implies(start.with_values(priors=each))
            ]
        for start in starts:
            for given in goals(edge):
                wanted = {name: value for name, value in given.items() if value is not None}
                implied = edge.follow(start, Goal(edge.end, wanted))
                outcomes[type(implied)] += 1
                if isinstance(implied, Refusal):
                    assert implied.missing
                    continue
                assert implied.notion == edge.end
                assert satisfied(implied, rows, rng), (
                    start,
                    dict(start.context),
                    implied,
                    dict(implied.context),
                    wanted,
                )
    special = {"curve-to-gaussian"}  # needs a normal curve, which no finite mechanism has
    assert outcomes[Claim] or edge.name in special, f"{edge.name} was never applied: {outcomes}"


def follow(edge, start, given):
    """Follow an edge; it must give something."""
    implied = edge.follow(start, Goal(edge.end, given))
    assert isinstance(implied, Claim), implied
    return implied


def test_edges_are_well_formed():
    names = [edge.name for edge in ATLAS]
    assert len(names) == len(set(names))
    assert {edge.start for edge in ATLAS} | {edge.end for edge in ATLAS} <= set(NOTION_KEYS)
    assert all(edge.rule and edge.source and edge.witness for edge in ATLAS)
    assert {edge.name for edge in implications(start="bounded-range")} == {"range-to-dp", "range-to-zcdp"}
    assert table().count("\n") == len(ATLAS) + 2


def coin(epsilon):
    return randomised_response(2, epsilon)


def leaky(epsilon, delta):
    """Randomised response that reveals the truth with probability delta."""
    kept = (1 - delta) * coin(epsilon)
    return np.column_stack([kept, [delta, 0.0], [0.0, delta]])


def favours(epsilon):
    """A rare report of three values: another record decides which of them it favours."""
    rare = 1e-9 * np.exp(epsilon * np.array([0, 1, 1, 1, 1, 0]))
    return np.column_stack([rare, 1 - rare])


THREE = (np.array([[0, 1, 0, 1, 0, 1], [2, 3, 2, 3, 2, 3], [4, 5, 4, 5, 4, 5]]),)
PAIR = Priors.all()
DP = Claim("differential-privacy", epsilon=0.8)
ATTAINED = [
    ("dp-weaker", Claim("differential-privacy", epsilon=0.8, delta=0.1), {"epsilon": 0.3}, leaky(0.8, 0.1)),
    ("dp-weaker", DP, {"delta": 0.05}, coin(0.8)),
    ("dp-to-kl", DP, {}, coin(0.8)),
    *[("dp-to-divergence", DP, {"divergence": name}, coin(0.8)) for name in DIVERGENCES],
    ("dp-to-renyi", DP, {"order": 2.5}, coin(0.8)),
    ("dp-to-range", DP, {}, coin(0.8)),
    ("dp-to-gaussian", DP, {}, coin(0.8)),
    ("dp-to-semantic", DP, {"maps": np.array([[1, 0]])}, coin(0.8)),
    ("dp-to-information", DP, {"priors": PAIR}, coin(0.8)),
    ("dp-to-noiseless", DP, {"priors": PAIR}, coin(0.8)),
    ("dp-to-inference-based-causal", DP, {"interventions": (np.array([[0, 0], [1, 1]]),)}, coin(0.8)),
    ("dp-to-inference-based-causal", DP, {"interventions": THREE}, favours(0.8)),
    (
        "range-to-dp",
        Claim("bounded-range", eta=0.8),
        {},
        np.array([[1e-9, 1 - 1e-9], [1e-9 * math.exp(0.8), 1 - 1e-9 * math.exp(0.8)]]),
    ),
    ("pdp-to-dp", Claim("probabilistic-differential-privacy", epsilon=0.8, delta=0.1), {}, leaky(0.8, 0.1)),
]


@pytest.mark.parametrize(("name", "start", "given", "rows"), ATTAINED, ids=[each[0] for each in ATTAINED])
def test_least_value_is_attained(name, start, given, rows):
    rng = np.random.default_rng(1)
    edge = next(edge for edge in ATLAS if edge.name == name)
    assert edge.tightness is Tightness.TIGHT
    assert satisfied(start, rows, rng, slack=1e-7)
    implied = follow(edge, start, given)
    value = next(iter(implied.numbers.values()))
    assert true_value(implied, rows, rng) == pytest.approx(value, rel=1e-6)


def test_concentrated_constant_is_approached_by_randomised_response():
    for epsilon in (0.1, 1.0, 3.0):
        implied = follow(
            implications(start="differential-privacy", end="concentrated-privacy")[0],
            Claim("differential-privacy", epsilon=epsilon),
            {},
        )
        assert implied["rho"] == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)
        assert implied["rho"] < epsilon**2 / 2
        assert true_value(implied, coin(epsilon), None) > 0.99 * implied["rho"]


def test_metric_of_hops_and_dilation_are_attained_on_a_line():
    rows = geometric(N, 0.6)
    near = Claim("metric-privacy", epsilon=0.6, metric=SPREAD, relation=NEAR)
    chain = implications(start="metric-privacy", end="metric-privacy")[0]
    # One step of the line costs at most 0.6 per hop, so 0.6 per unit of the hop metric.
    hop = follow(
        implications(start="differential-privacy", end="metric-privacy")[0],
        Claim("differential-privacy", epsilon=0.6, relation=NEAR),
        {"metric": LINE},
    )
    assert hop["epsilon"] == pytest.approx(0.6, rel=1e-12)
    assert true_value(hop, rows, None) == pytest.approx(0.6, rel=1e-9)
    # A promise about steps over a bent line: the detour is longer than the direct way (errata H9).
    bent = Metric(np.array([[0.0, 1, 1.2], [1, 0, 1], [1.2, 1, 0]]))
    steps = Claim("metric-privacy", epsilon=0.6, metric=bent, relation=line_relation(3))
    whole = follow(chain, steps, {"metric": bent})
    assert whole["epsilon"] == pytest.approx(0.6 * 2 / 1.2, rel=1e-12)
    assert true_value(whole, geometric(3, 0.6), None) == pytest.approx(whole["epsilon"], rel=1e-9)
    assert near["epsilon"] == 0.6


def test_groups_are_attained_and_refused_without_steps():
    group = implications(start="differential-privacy", end="differential-privacy")[0]
    start = Claim("differential-privacy", epsilon=0.6, relation=NEAR)
    far = Relation(np.abs(np.subtract.outer(np.arange(N), np.arange(N))) == 3, "the ends")
    implied = follow(group, start, {"relation": far})
    assert true_value(implied, geometric(N, 0.6), None) == pytest.approx(1.8, rel=1e-9)
    assert implied["epsilon"] == pytest.approx(1.8, rel=1e-12)
    apart = Relation(np.kron(np.eye(2), 1 - np.eye(2)).astype(bool), "two towns")
    found = group.follow(
        Claim("differential-privacy", epsilon=1.0, relation=apart), Goal("differential-privacy", {"relation": far})
    )
    assert isinstance(found, Refusal)


@pytest.mark.parametrize("name", ["chi-square divergence", "squared Hellinger distance"])
@pytest.mark.parametrize("variation", [0.1, 0.4, 0.7])
def test_total_variation_bounds_are_attained_by_two_reports(name, variation):
    if name.startswith("chi") and variation > 0.5:
        rows = np.array([[1.0, 0.0], [1 - variation, variation]])  # the second must dominate the first
        rows = rows[:, ::-1]
    elif name.startswith("chi"):
        rows = np.array([[0.5 + variation, 0.5 - variation], [0.5, 0.5]])
    else:
        rows = np.array([[0.5 + variation / 2, 0.5 - variation / 2], [0.5 - variation / 2, 0.5 + variation / 2]])
    one_way = Relation([[False, True], [False, False]])
    start = Claim("divergence-privacy", epsilon=1.0, divergence=name, relation=one_way)
    start = start.with_values(epsilon=true_value(start, rows, None))
    edge = implications(start="divergence-privacy", end="differential-privacy")[0]
    assert follow(edge, start, {})["delta"] == pytest.approx(variation, rel=1e-9)


@pytest.mark.parametrize(
    "divergence",
    ["anything", "total variation", "kl", Renyi(2.0).name, Renyi(2.0), MaxDivergence(), HockeyStick(0.5)],
)
def test_a_divergence_lifts_only_where_it_is_known_to_be_quasi_convex(divergence):
    claim = Claim("divergence-privacy", epsilon=0.1, divergence=divergence)
    if divergence == "anything":
        with pytest.raises(InputError, match="quasi-convex"):
            convert(claim, to="divergence-distribution-privacy")
    else:
        assert convert(claim, to="divergence-distribution-privacy").claim["epsilon"] == 0.1


def test_gaussian_curve_golden_values():
    edge = implications(start="gaussian", end="differential-privacy")[0]
    for epsilon, delta in [(0.0, 0.382925), (0.5, 0.238422), (1.0, 0.126937), (2.0, 0.020924)]:
        implied = follow(edge, Claim("gaussian", mu=1.0), {"epsilon": epsilon})
        assert implied["delta"] == pytest.approx(delta, abs=1e-6)
        back = follow(edge, Claim("gaussian", mu=1.0), {"delta": implied["delta"]})
        assert back["epsilon"] == pytest.approx(epsilon, abs=1e-9)


def test_adversarial_golden_values_and_their_inverse():
    to = implications(start="event-ratio", end="adversarial")[0]
    back = implications(start="adversarial", end="event-ratio")[0]
    for rho, epsilon, delta in [(5, 0.5, 0.2265963), (3, 0.2, 0.1964892), (10, 1.0, 0.2545392)]:
        implied = follow(to, Claim("event-ratio", rise=math.log(rho)), {"epsilon": epsilon})
        assert implied["delta"] == pytest.approx(delta, abs=1e-7)
        assert follow(back, implied, {})["rise"] == pytest.approx(math.log(rho), rel=1e-9)


def test_membership_at_one_half_golden_values():
    edge = implications(start="event-ratio", end="positive-membership")[0]
    half = {"priors": Priors.of_range(0.5, 0.5)}
    for rho, epsilon in [(3, 0.693147), (2, 0.405465), (10, 1.704748)]:
        implied = follow(edge, Claim("event-ratio", rise=math.log(rho)), half)
        assert implied["epsilon"] == pytest.approx(epsilon, abs=1e-6)
        back = follow(implications(start="positive-membership", end="event-ratio")[0], implied, {})
        assert back["rise"] == pytest.approx(math.log(rho), rel=1e-9)


def test_factors_two_are_approached():
    rare = 1e-6
    rows = np.array([[2.0, 1.0], [0.5, 1.0], [1.0, 1.0]]) * 0.25
    rows = np.column_stack([rows[:, 0], 1 - rows[:, 0]])
    prior = Priors.of(Prior(halves(3)[0], [rare, rare, 1 - 2 * rare]))
    rng = np.random.default_rng(0)
    start = Claim("information", epsilon=1.0, priors=prior)
    start = start.with_values(epsilon=true_value(start, rows, rng))
    implied = follow(implications(start="information", end="differential-privacy")[0], start, {})
    assert true_value(implied, rows, rng) == pytest.approx(implied["epsilon"], rel=1e-4)


def test_semantic_converse_is_attained_and_needs_possible_reports():
    edge = implications(start="semantic", end="differential-privacy")[0]
    rng = np.random.default_rng(0)
    start = Claim("semantic", epsilon=1.0, maps=np.array([[0, 0]]), possible=True)
    start = start.with_values(epsilon=true_value(start, coin(0.8), rng))
    assert follow(edge, start, {})["epsilon"] == pytest.approx(0.8, rel=1e-9)
    # The default never makes the second report: semantic privacy sees nothing, and a secret is given away.
    rows = np.array([[1.0, 0.0], [0.5, 0.5]])
    value = true_value(start, rows, rng)
    assert value == pytest.approx(math.tanh(math.log(2) / 4))
    assert true_value(Claim("differential-privacy", epsilon=1.0), rows, rng) == math.inf
    found = edge.follow(start.with_values(epsilon=value, possible=None), Goal("differential-privacy", {}))
    assert isinstance(found, Refusal)


def test_guarantees_are_claims():
    claim = Claim.of(MetricPrivacy(0.6, LINE))
    assert claim.notion == "metric-privacy"
    assert claim["epsilon"] == 0.6


def test_documents_are_in_step():
    docs = Path(__file__).resolve().parents[3] / "docs"
    assert table().replace("](proofs/", "](../proofs/") in (docs / "reference" / "atlas.md").read_text(
        encoding="utf-8"
    )
    heads = re.findall(r"^## (.+)$", (docs / "proofs" / "atlas.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(heads) == sorted(edge.name for edge in ATLAS)
