"""Maps of implications about beliefs: likelihood ratios, membership, noiseless and Pufferfish privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from ...core import as_distance, blind_error
from ...core.arrays import Bools, Floats, Positions
from ...core.bracket import bisect
from ...errors import InputError
from ...intervals import Interval, exact, lower_end, upper_end
from ...transport import lifting
from ..beliefs.attackers import Events, Priors, events_on
from ..beliefs.pufferfish import intervention_pairs, record_values, setting_pairs
from ..relation import Relation
from .claims import Changes, Claim, Goal, Map, Refusal, covers, needing, to_one_default

EVERY: Final = (0.0, 1.0)

Span = tuple[float, float]
"""The least and the largest prior probability of one fact."""


def priors_of(context: Mapping[str, object]) -> Priors:
    """Return the priors of a context, by default all."""
    priors = context.get("priors")
    return priors if isinstance(priors, Priors) else Priors.all()


def events_of(context: Mapping[str, object]) -> Events | None:
    """Return the facts of a context; None for the single secrets."""
    events = context.get("events")
    return events if isinstance(events, Events) else None


def any_mass(priors: Priors) -> Priors:
    """Return the priors with the same likelihoods of facts, at any probabilities of the facts."""
    return priors if priors.interval is None else Priors(priors.listed, EVERY)


def every_secret(claim: Claim) -> bool:
    """Return whether the facts are the single secrets."""
    events = events_of(claim.context)
    return events is None or covers("events", events, Events.singletons(events.size))


def holds_all(priors: Priors) -> bool:
    """Return whether some listed prior holds every secret possible."""
    return any(bool((prior.probabilities > 0).all()) for prior in priors.listed)


def spans(priors: Priors, events: Events | None) -> list[Span]:
    """Return the intervals of prior probability of the facts."""
    if priors.interval is not None:
        return [priors.interval]
    intervals = []
    for prior in priors.listed:
        masks = np.eye(len(prior.probabilities), dtype=np.bool_) if events is None else events.masks
        masses = masks @ prior.probabilities
        intervals += [(float(mass), float(mass)) for mass in masses if 0 < mass < 1]
    return intervals


def opposite(span: Span) -> Span:
    """Return the interval of the fact's absence, rounded outwards."""
    low, high = 1.0 - span[1], 1.0 - span[0]
    return max(0.0, low if low == 1 else math.nextafter(low, 0.0)), min(1.0, math.nextafter(high, 2.0))


def rise_of_posterior(ratio: float, span: Span) -> float:
    """Return the epsilon of positive membership for a likelihood ratio e^ratio, over a span of priors."""
    low, high = (exact(end) for end in span)

    def factor() -> Interval:
        return exact(ratio).exp()

    more = upper_end(lambda: (factor() / (1 + low * (factor() - 1))).log())
    less = upper_end(lambda: (1 + high * (factor() - 1)).log())
    return min(max(more, less, 0.0), ratio)


def ratio_of_rise(epsilon: float, span: Span) -> float:
    """Return the logarithm of the ratio that positive membership privacy of epsilon leaves; ``inf`` if any."""
    low, high = (exact(end) for end in span)

    def growth() -> Interval:
        return exact(epsilon).exp()

    if span[0] == 0 or span[1] == 1:
        return epsilon
    more = upper_end(lambda: (growth() * (1 - low) / (1 - low * growth())).log())
    less = upper_end(lambda: ((growth() + high - 1) / high).log()) if span[1] > 0 else math.inf
    return min(more, less)


def excess(ratio: float, epsilon: float, span: Span) -> float:
    """Return the delta of adversarial privacy at epsilon for a likelihood ratio e^ratio."""
    if epsilon >= ratio:
        return 0.0

    def over_all() -> Interval:
        root, part = (exact(ratio) / 2).exp(), (exact(epsilon) / 2).exp()
        return (root - part) ** 2 / (root**2 - 1)

    peak = math.exp(-(ratio + epsilon) / 2) * math.expm1((epsilon - ratio) / 2) / math.expm1(-ratio)
    outside = (peak < span[0] - 1e-9, peak > span[1] + 1e-9)
    ends = [end for end, beyond in zip(span, outside, strict=True) if beyond]
    if not ends:
        return upper_end(over_all)
    p = exact(ends[0])

    def at_end() -> Interval:
        factor = exact(ratio).exp()
        return p * factor / (1 + p * (factor - 1)) - exact(epsilon).exp() * p

    return max(0.0, upper_end(at_end))


def least_epsilon(ratio: float, delta: float, span: Span) -> float:
    """Return an epsilon of adversarial privacy at delta for a likelihood ratio e^ratio."""
    if delta == 0 or ratio == 0:
        return ratio
    if excess(ratio, 0.0, span) <= delta:
        return 0.0
    return bisect(lambda epsilon: excess(ratio, epsilon, span) <= delta, fails=0.0, holds=ratio, steps=80).holds


def ratio_of_excess(epsilon: float, delta: float, span: Span) -> float:
    """Return the logarithm of the ratio that adversarial privacy of (epsilon, delta) leaves; ``inf`` if any."""
    if delta >= 1:
        return math.inf

    def over_all() -> Interval:
        part, free = (exact(epsilon) / 2).exp(), exact(delta)
        return 2 * ((part + (free * (part**2 - 1 + free)).sqrt()) / (1 - free)).log()

    if span == (0.0, 1.0):
        return epsilon if delta == 0 else upper_end(over_all)
    return min(_ratio_at(epsilon, delta, end) for end in span)


def _ratio_at(epsilon: float, delta: float, mass: float) -> float:
    if mass == 0:
        return epsilon if delta == 0 else math.inf
    p = exact(mass)

    def value() -> Interval:
        # At a bound of 1 or more the logarithm is undefined, which `above` takes for infinite.
        bound = exact(epsilon).exp() * p + exact(delta)
        return (bound * (1 - p) / (p * (1 - bound))).log()

    return upper_end(value)


_UNBOUNDED = Refusal("the claim leaves the likelihood ratio unbounded")


def dp_to_ratio(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon as rise and fall, for the goal's facts and priors; any, if all secrets are related."""
    about = {name: goal.context(name) for name in ("priors", "events")}
    epsilon, relation = claim["epsilon"], claim.context["relation"]
    if not covers("relation", relation, None):
        priors, events = priors_of(about), events_of(about)
        sizes = {len(prior) for prior in priors.listed} | ({events.size} if events else set())
        if priors.interval is not None or not isinstance(relation, Relation) or sizes != {relation.size}:
            return Refusal("a claim about all pairs of secrets, or given priors, are needed")
        related = relation.array & relation.array.T
        facts = events_on(events, relation.size).masks
        misfit = max(_misfit(related, prior.probabilities, mask) for prior in priors.listed for mask in facts)
        if math.isinf(misfit):
            return Refusal("related secrets must couple those where a fact is true with those where it is false")
        if misfit:
            epsilon = upper_end(lambda: exact(epsilon) + exact(misfit))
    return {"rise": epsilon, "fall": epsilon, **about}


def _misfit(related: Bools, weights: Floats, mask: Bools) -> float:
    """Return ln of the factor to which related secrets couple the distributions where a fact is true and false."""
    true, false = np.where(mask, weights, 0.0), np.where(mask, 0.0, weights)
    if related[np.ix_(true > 0, false > 0)].all():  # also where the fact is not in doubt
        return 0.0
    answer = lifting(related, true / true.sum(), false / false.sum())
    if not answer.holds:
        return math.inf
    joint, factor = np.where(related, answer.coupling.joint, 0.0), 1.0
    for masses, shares in ((true, joint.sum(axis=1)), (false, joint.sum(axis=0))):
        ratios = shares[masses > 0] / masses[masses > 0]
        factor *= float(ratios.max() / ratios.min()) if ratios.all() else math.inf
    return math.log(factor) + len(weights) * 2.0**-50  # sums and quotients round


def ratio_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return the smaller of rise and fall for all pairs, or their bounds of pairs that priors leave in doubt."""
    priors, rise, fall = priors_of(claim.context).listed, claim["rise"], claim["fall"]
    if not priors and every_secret(claim):
        epsilon = min(rise, fall)
        return _UNBOUNDED if math.isinf(epsilon) else {"epsilon": epsilon}
    pairs = [np.flatnonzero(prior.probabilities) for prior in priors]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        return Refusal(
            "a claim against every prior about every single secret, or priors on two secrets, are needed"
        )
    array = np.zeros((len(priors[0]), len(priors[0])), dtype=np.bool_)
    masks, epsilon = events_on(events_of(claim.context), len(array)).masks, 0.0
    for s, t in (order for pair in pairs for order in (pair, pair[::-1])):
        up, down = (bool((masks[:, i] & ~masks[:, j]).any()) for i, j in ((s, t), (t, s)))
        epsilon = max(epsilon, min(rise if up else math.inf, fall if down else math.inf))
        array[s, t] = True
    relation = Relation(array, "secrets between which a prior is in doubt")
    return _UNBOUNDED if math.isinf(epsilon) else {"epsilon": epsilon, "relation": relation}


def _wanted_priors(claim: Claim, goal: Goal) -> Priors | None:
    """Return the priors of the goal, or the claim's, if the claim's conditional distributions cover them."""
    claimed_priors = priors_of(claim.context)
    if goal.context("priors") is None:
        return claimed_priors
    priors = priors_of(goal.terms)
    if not claimed_priors.listed:
        return priors
    inside = priors.listed and {id(p) for p in priors.listed} <= {id(p) for p in claimed_priors.listed}
    impossible = not all((prior.probabilities > 0).all() for prior in priors.listed)
    filled = claimed_priors.interval is None and priors.interval is not None
    return priors if inside and not (filled and impossible) else None


def ratio_to_membership(*sides: str) -> Map:
    """Return the map to the membership privacy that rise, fall or both allow."""

    def apply(claim: Claim, goal: Goal) -> Changes:
        priors = _wanted_priors(claim, goal)
        if priors is None:
            return Refusal("priors are needed whose distributions the claim covers")
        values = []
        for span in spans(priors, events_of(claim.context)):
            for side in sides:
                masses = span if side == "rise" else opposite(span)
                values.append(rise_of_posterior(claim[side], masses) if claim[side] < math.inf else math.inf)
        epsilon = max(values, default=0.0)
        return _UNBOUNDED if math.isinf(epsilon) else {"epsilon": epsilon, "priors": priors}

    return apply


def membership_to_ratio(*sides: str) -> Map:
    """Return the map to the rise, the fall or both that membership privacy leaves."""

    def apply(claim: Claim, _goal: Goal) -> Changes:
        priors, events = priors_of(claim.context), events_of(claim.context)
        ratios = {"rise": math.inf, "fall": math.inf}
        for side in sides:
            ends = [span if side == "rise" else opposite(span) for span in spans(priors, events)]
            ratios[side] = max((ratio_of_rise(claim["epsilon"], span) for span in ends), default=0.0)
        if min(ratios.values()) == math.inf:
            return Refusal("the prior probabilities of the facts are too far inside (0, 1) to bound any ratio")
        return {**ratios, "priors": any_mass(priors)}

    return apply


def ratio_to_adversarial(claim: Claim, goal: Goal) -> Changes:
    """Return delta at the goal's epsilon, or epsilon at its delta, for the goal's priors."""
    priors, rise = _wanted_priors(claim, goal), claim["rise"]
    if priors is None or math.isinf(rise):
        return Refusal("a bound of how far a ratio rises is needed, for the distributions of the priors")
    intervals = spans(priors, events_of(claim.context))
    epsilon, delta = goal.number("epsilon"), goal.number("delta")
    if epsilon is not None:
        delta = max((excess(rise, epsilon, span) for span in intervals), default=0.0)
    else:
        delta = delta or 0.0
        epsilon = max((least_epsilon(rise, delta, span) for span in intervals), default=0.0)
    return {"epsilon": epsilon, "delta": min(delta, 1.0), "priors": priors}


def adversarial_to_ratio(claim: Claim, _goal: Goal) -> Changes:
    """Return the rise that adversarial privacy leaves."""
    priors, events = priors_of(claim.context), events_of(claim.context)
    ratios = [ratio_of_excess(claim["epsilon"], claim["delta"], span) for span in spans(priors, events)]
    rise = max(ratios, default=0.0)
    return _UNBOUNDED if math.isinf(rise) else {"rise": rise, "priors": any_mass(priors)}


def noiseless_to_ratio(claim: Claim, _goal: Goal) -> Changes:
    """Return epsilon as rise and fall."""
    return {"rise": claim["epsilon"], "fall": claim["epsilon"], "priors": any_mass(priors_of(claim.context))}


full_prior: Final = needing(
    "a prior that holds every secret possible is needed, and the secret itself as the attribute",
    lambda claim: every_secret(claim) and (holds_all(beliefs := priors_of(claim.context)) or not beliefs.listed),
)
secret_itself: Final = needing("the secret itself as the attribute is needed", every_secret)
stated_priors: Final = needing(
    "given priors, or all, are needed", lambda claim: priors_of(claim.context).interval in (None, EVERY)
)


def information_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return twice the epsilon; the same one where the claim is against every prior."""
    priors = priors_of(claim.context)
    if not priors.listed and priors.interval == EVERY:
        return {}
    if not holds_all(priors):
        return Refusal("a prior that holds every secret possible is needed")
    return {"epsilon": upper_end(lambda: 2 * exact(claim["epsilon"]))}


def information_to_distortion(claim: Claim, goal: Goal) -> Changes:
    """Return e^-epsilon times the error of the best blind guess, rounded down."""
    distance, priors = goal.context("distance"), goal.context("priors")
    claim_priors = priors_of(claim.context)
    is_single = isinstance(priors, Priors) and len(priors.listed) == 1 and priors.interval is None
    if distance is None or not isinstance(priors, Priors) or not is_single:
        return Refusal("the distance and one prior must be given: distance= and priors=Priors.of(prior)")
    if not covers("priors", claim_priors, priors):
        return Refusal("a prior is needed that the claim covers")
    array = as_distance(distance).array  # type: ignore[arg-type]
    blind = blind_error(priors.listed[0].probabilities, array)
    # The relative error of a sum of n products is at most n 2**-53.
    safe = blind * (1 - (array.shape[1] + 8) * 2.0**-52)
    least = lower_end(lambda: exact(safe) * (-exact(claim["epsilon"])).exp())
    return {"error": max(least, 0.0), "distance": distance, "priors": priors}


def pufferfish_to_noiseless(claim: Claim, _goal: Goal) -> Changes:
    """Return the rivals as facts, where they are the values of an attribute."""
    rivals = claim.context["rivals"]
    if rivals is not None and not isinstance(rivals, Events):
        return Refusal("an attribute or facts with their opposites are needed as rivals")
    return {"events": rivals}


def distribution_to_pufferfish(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's priors and rivals, of a claim about all distributions."""
    if claim.context["family"] is not None or not covers("relation", claim.context["relation"], None):
        return Refusal("a claim about all distributions of secrets is needed")
    return {"priors": goal.context("priors"), "rivals": goal.context("rivals")}


def _map_pairs(maps: Positions) -> Relation:
    size = maps.shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in maps:
        secrets = np.flatnonzero(images >= 0)
        array[secrets, images[secrets]] = array[images[secrets], secrets] = True
    return Relation(array, "secrets with and without a record")


def dp_to_semantic(claim: Claim, goal: Goal) -> Changes:
    """Return tanh(epsilon / 4) for defaults, else tanh(epsilon / 2)."""
    maps, relation = goal.context("maps"), claim.context["relation"]
    if covers("relation", relation, None) and (maps is None or to_one_default(maps)):
        return {"epsilon": upper_end(lambda: (exact(claim["epsilon"]) / 4).tanh()), "maps": maps}
    if maps is None:
        return Refusal("any two secrets must be related, or the maps that take a record out be given: maps=")
    if not covers("relation", relation, _map_pairs(np.atleast_2d(np.asarray(maps)))):
        return Refusal("every secret and its image must be related, in both orders")
    return {"epsilon": upper_end(lambda: (exact(claim["epsilon"]) / 2).tanh()), "maps": maps}


def semantic_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return 4 artanh(epsilon) for every secret and its image."""
    sigma, positions = claim["epsilon"], claim.context["maps"]
    maps = None if positions is None else np.atleast_2d(np.asarray(positions))
    if maps is not None and any(not (images[images[images >= 0]] >= 0).all() for images in maps):
        return Refusal("maps are needed that take every secret that they reach")
    if maps is not None and claim.context["possible"] is not True:
        return Refusal("it must be known that the image of a secret may make all its reports: possible=True")
    if sigma >= 1:
        return Refusal("an epsilon below 1 is needed")
    value = upper_end(lambda: 4 * exact(sigma).atanh())
    return {"epsilon": value, "relation": None if maps is None else _map_pairs(maps)}


def _settings(interventions: object) -> list[Positions]:
    if isinstance(interventions, Mapping):
        interventions = [list(settings.values()) for settings in interventions.values()]
    return [np.asarray(intervention) for intervention in interventions]  # type: ignore[attr-defined]


def dp_to_causal(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's interventions, where the claim covers the pairs that they make."""
    interventions = goal.context("interventions")
    if interventions is None:
        return Refusal("the interventions must be given: interventions=")
    if not covers("relation", claim.context["relation"], intervention_pairs(_settings(interventions))):
        return Refusal("all secrets that one intervention makes of the same secret must be related")
    return {"priors": goal.context("priors"), "interventions": interventions}


def causal_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return the pairs that interventions make."""
    if priors_of(claim.context).listed:
        return Refusal("a claim against every prior is needed")
    return {"relation": intervention_pairs(_settings(claim.context["interventions"]))}


def dp_to_inference(claim: Claim, goal: Goal) -> Changes:
    """Return twice the epsilon for the goal's interventions; the same one where two beliefs differ in one pair."""
    interventions = goal.context("interventions")
    if interventions is None:
        return Refusal("the interventions must be given: interventions=")
    records = _settings(interventions)
    try:
        values = [record_values(images) for images in records]
    except InputError:
        return Refusal("interventions that set the value of a record are needed")
    if not covers("relation", claim.context["relation"], setting_pairs(records)):
        return Refusal("every secret must be related to all that one intervention makes of it, in both orders")
    pairs = all(
        len(np.unique(labels)) <= 2 or (images == images[:, :1]).all()
        for labels, images in zip(values, records, strict=True)
    )
    epsilon = claim["epsilon"] if pairs else upper_end(lambda: 2 * exact(claim["epsilon"]))
    return {"epsilon": epsilon, "priors": goal.context("priors"), "interventions": interventions}


def inference_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return the pairs of secrets and what interventions make of them."""
    if priors_of(claim.context).interval != EVERY:
        return Refusal("a claim against every prior is needed")
    records = _settings(claim.context["interventions"])
    for images in records:
        record_values(images)
    return {"relation": setting_pairs(records)}


def inference_to_causal(claim: Claim, _goal: Goal) -> Changes:
    """Return twice the epsilon; the same one where the claim is against every prior."""
    priors = priors_of(claim.context).listed
    if stated_priors(claim):
        return Refusal("given priors, or all, are needed")
    for images in _settings(claim.context["interventions"]):
        values = record_values(images)
        for prior in priors:
            if np.setdiff1d(np.arange(len(images)), values[prior.probabilities > 0]).size:
                return Refusal("priors are needed that hold each value possible to which a record may be set")
    return {"epsilon": upper_end(lambda: 2 * exact(claim["epsilon"]))} if priors else {}
