"""Claims checked: each is measured under its notion or, where there is none, by hand."""

from itertools import pairwise

import numpy as np

from sfumato.core import Space
from sfumato.divergences import CHI_SQUARED, HELLINGER, KL, REVERSE_KL, TOTAL_VARIATION
from sfumato.privacy import (
    ATLAS,
    Claim,
    DifferentialPrivacy,
    DistributionPrivacy,
    Events,
    Family,
    KLPrivacy,
    Priors,
    ProbabilisticDistributionPrivacy,
    Relation,
    RenyiPrivacy,
    TradeOffPrivacy,
)
from sfumato.privacy.atlas import Goal
from sfumato.transport import wasserstein

DIVERGENCES = {each.name: each for each in (KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER)}
ORDERS = [1 + 2.0**k for k in range(-8, 7)]


def implied(name, wanted=None, **parameters):
    """The claim that an implication gives of one with these parameters."""
    edge = next(edge for edge in ATLAS if edge.name == name)
    found = edge.follow(Claim(edge.start, **parameters), Goal(edge.end, wanted or {}))
    assert isinstance(found, Claim), found
    return found


def _divergence(context):
    given = context["divergence"]
    return DIVERGENCES[given] if isinstance(given, str) else given


def _priors(context):
    return context["priors"] if context["priors"] is not None else Priors.all()


def true_value(claim, rows, rng):
    """The least value of a claim's first number that rows satisfy; over random distributions where they count."""
    notion = claim.to_notion()
    if notion is not None:
        return _measured(notion, claim, rows)
    c, x = claim.context, claim.numbers
    match claim.notion:
        case "concentrated-privacy":
            above_one = max(RenyiPrivacy(order, c["relation"]).measure(rows).value / order for order in ORDERS)
            return max(above_one, KLPrivacy(c["relation"]).measure(rows).value)
        case "renyi-privacy":
            other = KLPrivacy(c["relation"]) if x["order"] == 1 else DifferentialPrivacy(c["relation"])
            return other.measure(rows).value
        case "trade-off":
            return TradeOffPrivacy(c["curve"], c["relation"]).measure(rows).value
        case "metric-privacy":
            return max(_log_ratio(rows[s], rows[t]) / c["metric"].array[s, t] for s, t in c["relation"].pairs)
        case "event-ratio":
            return ratios(rows, _priors(c), c["events"])[0]
        case "distortion":
            joint = rows * c["priors"].listed[0].probabilities[:, None]
            return float((c["distance"].array @ joint).min(axis=0).sum())
    return max(_between(claim, rows, rng) for _ in range(6))


_MEASURED: dict[tuple[object, ...], tuple[float, object]] = {}


def _measured(notion, claim, rows):
    """A notion's value on rows: edges share mechanisms, and many imply claims of one notion in one context."""
    fixed = [*claim.numbers.items()][1:]
    context = [(name, each if isinstance(each, str | float) else id(each)) for name, each in claim.context.items()]
    key = (claim.notion, *fixed, *context, rows.shape, rows.tobytes())
    if key not in _MEASURED:
        _MEASURED[key] = notion.measure(rows).value, claim  # the claim keeps what `id` names alive
    return _MEASURED[key][0]


def rho_above(rows, relation):
    """A rho that rows satisfy: between two orders a < b the divergence of b over a is an upper bound."""
    at = {order: RenyiPrivacy(order, relation).measure(rows).value for order in ORDERS}
    steps = [at[b] / a for a, b in pairwise(ORDERS)]
    ends = [at[ORDERS[0]], DifferentialPrivacy(relation).measure(rows).value / ORDERS[-1]]
    return max(steps + ends)


def _between(claim, rows, rng):
    """The value of one random pair of distributions."""
    c, x = claim.context, claim.numbers
    n = len(rows)
    relation = c.get("relation") or Relation.all(n)
    joint = rng.dirichlet(np.full(n * n, 0.1)).reshape(n, n)
    joint = np.where(relation.array | (np.eye(n, dtype=bool) & (rng.random() < 0.5)), joint, 0.0)
    joint /= joint.sum()
    first, second = joint.sum(axis=1), joint.sum(axis=0)
    family = c.get("family") or Family({"first": first, "second": second}, [("first", "second")])
    match claim.notion:
        case "distribution-privacy":
            return DistributionPrivacy(family, x["delta"]).measure(rows).value
        case "probabilistic-distribution-privacy":
            return ProbabilisticDistributionPrivacy(family, x["delta"]).measure(rows).value
        case "metric-distribution-privacy":
            distance = wasserstein(first, second, c["metric"].array, p=x["order"]).distance.value
            found = DistributionPrivacy(family, x["delta"]).measure(rows).value
            return found / distance
        case "divergence-distribution-privacy":
            return _divergence(c)(first @ rows, second @ rows)
        case "divergence-metric-distribution-privacy":
            distance = wasserstein(first, second, c["metric"].array, p=x["order"]).distance.value
            return _divergence(c)(first @ rows, second @ rows) / distance
    raise AssertionError(claim.notion)


def _log_ratio(p, q):
    used = p > 0
    with np.errstate(divide="ignore"):
        return float(np.log(p[used] / q[used]).max())


def ratios(rows, priors, events):
    """Return how far the likelihood ratio of a fact rises and falls, over all listed or all priors."""
    n = len(rows)
    masks = np.eye(n, dtype=bool) if events is None else events.masks
    rise = fall = 0.0
    for mask in masks:
        if priors.listed:
            sides = [
                (prior.probabilities[part] @ rows[part]) / prior.probabilities[part].sum()
                for prior in priors.listed
                if 0 < prior.probabilities[mask].sum() < 1
                for part in (mask, ~mask)
            ]
            pairs = list(zip(sides[::2], sides[1::2], strict=True))
        else:
            pairs = [(inside, outside) for inside in rows[mask] for outside in rows[~mask]]
        for inside, outside in pairs:
            rise = max(rise, _log_ratio(inside, outside))
            fall = max(fall, _log_ratio(outside, inside))
    return rise, fall


def satisfied(claim, rows, rng, slack=1e-9):
    """Whether rows satisfy a claim, up to a slack for the floating point of the measurement."""
    if claim.notion == "event-ratio":
        rise, fall = ratios(rows, _priors(claim.context), claim.context["events"])
        return rise <= claim["rise"] + slack and fall <= claim["fall"] + slack
    value = true_value(claim, rows, rng)
    if claim.notion == "trade-off":
        return value <= slack
    if claim.notion == "distortion":
        return value >= claim["error"] - slack
    return value <= next(iter(claim.numbers.values())) + slack


def line_relation(size):
    """Neighbours on a line, in both orders."""
    x = np.arange(size)
    return Relation(np.abs(x[:, None] - x) == 1, "neighbours on a line")


def halves(size):
    """The attribute that says whether a secret is among the first two."""
    space = Space([f"s{i}" for i in range(size)])
    return space, Events.partition(space, {label: i < 2 for i, label in enumerate(space.labels)})
