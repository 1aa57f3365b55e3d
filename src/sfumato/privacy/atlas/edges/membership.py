"""Implications between notions that compare a fact's probability before and after a report, such as membership."""

from __future__ import annotations

import math

from ...beliefs.priors import Priors
from ..claims import Claim
from ..edge import Basis, Goal, Refusal, Tightness, edge, everywhere, pure, renamed, symmetric
from .facts import (
    any_mass,
    events_of,
    every_secret,
    excess,
    holds_each,
    least_epsilon,
    opposite,
    priors_of,
    ratio_of_excess,
    ratio_of_rise,
    rise_of_posterior,
    spans,
)


@edge(
    "dp-to-indistinguishable",
    start="differential-privacy",
    end="indistinguishable",
    rule="epsilon stays",
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, Proposition 1",
    basis=Basis.PUBLISHED,
)
@symmetric
@pure
def _dp_to_indistinguishable(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "indistinguishable", numbers={"epsilon": "epsilon"}, keep=("relation",))


@edge(
    "indistinguishable-to-dp",
    start="indistinguishable",
    end="differential-privacy",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, Proposition 1",
    basis=Basis.PUBLISHED,
)
def _indistinguishable_to_dp(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "differential-privacy", keep=("relation",))


def _about(goal: Goal) -> dict[str, object]:
    return {name: goal.context(name) for name in ("priors", "events") if goal.speaks_of(name)}


@edge(
    "dp-to-ratio",
    start="differential-privacy",
    end="event-ratio",
    rule="rise and fall are at most epsilon, for any priors and facts",
    needs="delta = 0 and all pairs of secrets are related",
    tightness=Tightness.TIGHT,
    witness="randomised response between two secrets",
    source="after Desfontaines, 2.2.6",
    basis=Basis.PROVED,
)
@everywhere
@pure
def _to_ratio(claim: Claim, goal: Goal) -> Claim:
    return Claim("event-ratio", rise=claim["epsilon"], fall=claim["epsilon"], **_about(goal))


def _finite(notion: str, epsilon: float, **context: object) -> Claim | Refusal:
    if math.isinf(epsilon):
        return Refusal("the claim leaves the likelihood ratio unbounded")
    return Claim(notion, epsilon=epsilon, **context)


@edge(
    "ratio-to-dp",
    start="event-ratio",
    end="differential-privacy",
    rule="epsilon is the smaller of rise and fall",
    needs="the claim is against every prior and about every single secret",
    tightness=Tightness.TIGHT,
    witness="randomised response between two secrets",
    source="priors on two secrets",
    basis=Basis.PROVED,
)
def _ratio_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if priors_of(claim.context["priors"]).listed or not every_secret(claim):
        return Refusal("a promise against every prior about every single secret is needed")
    return _finite("differential-privacy", epsilon=min(claim["rise"], claim["fall"]))


def _wanted_priors(claim: Claim, goal: Goal) -> Priors | None:
    """Return the priors of the goal, or the claim's, if the claim's conditional distributions cover them."""
    held = priors_of(claim.context["priors"])
    wanted = goal.context("priors")
    if wanted is None:
        return held
    priors = priors_of(wanted)
    if not held.listed:
        return priors
    inside = priors.listed and {id(p) for p in priors.listed} <= {id(p) for p in held.listed}
    impossible = held.interval is None and priors.interval is not None and not holds_each(priors)
    return priors if inside and not impossible else None


def _membership(claim: Claim, goal: Goal, end: str, *sides: str) -> Claim | Refusal:
    priors = _wanted_priors(claim, goal)
    if priors is None:
        return Refusal("priors are needed whose distributions the claim covers")
    values = []
    for span in spans(priors, events_of(claim.context["events"])):
        for side in sides:
            masses = span if side == "rise" else opposite(span)
            values.append(rise_of_posterior(claim[side], masses) if claim[side] < math.inf else math.inf)
    return _finite(end, max(values, default=0.0), priors=priors, events=claim.context["events"])


@edge(
    "ratio-to-positive",
    start="event-ratio",
    end="positive-membership",
    rule=(
        "ln max(e^r / (1 + a (e^r - 1)), 1 + b (e^r - 1)) for r = rise and facts of probability a to b; ln((1 + "
        "e^r) / 2) at one half"
    ),
    tightness=Tightness.TIGHT,
    witness="the report with the largest ratio",
    source="Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _ratio_to_positive(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _membership(claim, goal, "positive-membership", "rise")


@edge(
    "ratio-to-negative",
    start="event-ratio",
    end="negative-membership",
    rule="the same with fall for rise, 1 - b for a and 1 - a for b",
    tightness=Tightness.TIGHT,
    witness="the report with the least ratio",
    source="after Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _ratio_to_negative(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _membership(claim, goal, "negative-membership", "fall")


@edge(
    "ratio-to-membership",
    start="event-ratio",
    end="membership",
    rule="the larger of the positive and the negative epsilon",
    tightness=Tightness.TIGHT,
    witness="the report with the largest or the least ratio",
    source="after Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _ratio_to_membership(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _membership(claim, goal, "membership", "rise", "fall")


def _from_membership(claim: Claim, *sides: str) -> Claim | Refusal:
    priors, events = priors_of(claim.context["priors"]), claim.context["events"]
    found = {"rise": math.inf, "fall": math.inf}
    for side in sides:
        ends = [span if side == "rise" else opposite(span) for span in spans(priors, events_of(events))]
        found[side] = max((ratio_of_rise(claim["epsilon"], span) for span in ends), default=0.0)
    if min(found.values()) == math.inf:
        return Refusal("the prior probabilities of the facts are too far inside (0, 1) to bound any ratio")
    return Claim("event-ratio", **found, priors=any_mass(priors), events=events)


@edge(
    "positive-to-ratio",
    start="positive-membership",
    end="event-ratio",
    rule=(
        "e^rise <= min(e^epsilon (1 - a) / (1 - a e^epsilon), (e^epsilon + b - 1) / b) for facts of probability "
        "a to b; fall stays unknown"
    ),
    tightness=Tightness.TIGHT,
    witness="the report with the largest ratio",
    source="Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _positive_to_ratio(claim: Claim, _goal: Goal) -> Claim | Refusal:
    return _from_membership(claim, "rise")


@edge(
    "negative-to-ratio",
    start="negative-membership",
    end="event-ratio",
    rule="the same for fall, with 1 - b for a and 1 - a for b; rise stays unknown",
    tightness=Tightness.TIGHT,
    witness="the report with the least ratio",
    source="after Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _negative_to_ratio(claim: Claim, _goal: Goal) -> Claim | Refusal:
    return _from_membership(claim, "fall")


@edge(
    "membership-to-ratio",
    start="membership",
    end="event-ratio",
    rule="both, as for positive and negative membership privacy",
    tightness=Tightness.TIGHT,
    witness="the report with the largest or the least ratio",
    source="after Tramèr et al. 2015",
    basis=Basis.PROVED,
)
def _membership_to_ratio(claim: Claim, _goal: Goal) -> Claim | Refusal:
    return _from_membership(claim, "rise", "fall")


@edge(
    "membership-to-positive",
    start="membership",
    end="positive-membership",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="one of its halves",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _membership_to_positive(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "positive-membership", keep=("priors", "events"))


@edge(
    "membership-to-negative",
    start="membership",
    end="negative-membership",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="one of its halves",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _membership_to_negative(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "negative-membership", keep=("priors", "events"))


@edge(
    "positive-to-adversarial",
    start="positive-membership",
    end="adversarial",
    rule="epsilon stays, delta = 0",
    tightness=Tightness.TIGHT,
    witness="facts of small prior probability",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _positive_to_adversarial(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "adversarial", keep=("priors", "events"))


@edge(
    "ratio-to-adversarial",
    start="event-ratio",
    end="adversarial",
    rule=(
        "delta = (sqrt(e^rise) - sqrt(e^epsilon))^2 / (e^rise - 1) over all probabilities of the fact, or less "
        "over some"
    ),
    tightness=Tightness.TIGHT,
    witness="the report with the largest ratio, at one prior probability",
    source="derived",
    basis=Basis.PROVED,
)
def _ratio_to_adversarial(claim: Claim, goal: Goal) -> Claim | Refusal:
    priors, rise = _wanted_priors(claim, goal), claim["rise"]
    if priors is None or math.isinf(rise):
        return Refusal("a bound of how far a ratio rises is needed, for the distributions of the priors")
    found = spans(priors, events_of(claim.context["events"]))
    epsilon, delta = goal.number("epsilon"), goal.number("delta")
    if epsilon is not None:
        delta = max((excess(rise, epsilon, span) for span in found), default=0.0)
    else:
        delta = delta or 0.0
        epsilon = max((least_epsilon(rise, delta, span) for span in found), default=0.0)
    return Claim(
        "adversarial", epsilon=epsilon, delta=min(delta, 1.0), priors=priors, events=claim.context["events"]
    )


@edge(
    "adversarial-to-ratio",
    start="adversarial",
    end="event-ratio",
    rule=(
        "e^(rise / 2) = (e^(epsilon / 2) + sqrt(delta (e^epsilon - 1 + delta))) / (1 - delta) over all "
        "probabilities of the fact; fall stays unknown"
    ),
    tightness=Tightness.TIGHT,
    witness="the report with the largest ratio",
    source="derived",
    basis=Basis.PROVED,
)
def _adversarial_to_ratio(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors, events = priors_of(claim.context["priors"]), claim.context["events"]
    found = [ratio_of_excess(claim["epsilon"], claim["delta"], span) for span in spans(priors, events_of(events))]
    rise = max(found, default=0.0)
    if math.isinf(rise):
        return Refusal("the claim leaves the likelihood ratio unbounded")
    return Claim("event-ratio", rise=rise, priors=any_mass(priors), events=events)


@edge(
    "noiseless-to-ratio",
    start="noiseless",
    end="event-ratio",
    rule="rise and fall are at most epsilon",
    tightness=Tightness.TIGHT,
    witness="attributes of two values",
    source="derived",
    basis=Basis.PROVED,
)
def _noiseless_to_ratio(claim: Claim, _goal: Goal) -> Claim:
    priors = any_mass(priors_of(claim.context["priors"]))
    epsilon = claim["epsilon"]
    return Claim("event-ratio", rise=epsilon, fall=epsilon, priors=priors, events=claim.context["events"])
