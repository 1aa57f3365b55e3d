"""Implications between notions that compare a fact's probability before and after a report."""

from __future__ import annotations

import math
from typing import Final

from ..beliefs.priors import Priors
from ._contexts import any_mass, events_of, every_secret, holds_each, priors_of
from ._edge import Edge, Goal, Refusal, Rule, Status, Tightness, everywhere, pure, renamed, symmetric
from ._odds_of_facts import (
    excess,
    least_epsilon,
    opposite,
    ratio_of_excess,
    ratio_of_rise,
    rise_of_posterior,
    spans,
)
from .claims import Claim


def _about(goal: Goal) -> dict[str, object]:
    return {name: goal.context(name) for name in ("priors", "events") if goal.speaks_of(name)}


def _to_ratio(claim: Claim, goal: Goal) -> Claim:
    return Claim("event-ratio", rise=claim["epsilon"], fall=claim["epsilon"], **_about(goal))


def _ratio_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if priors_of(claim.context["priors"]).listed or not every_secret(claim):
        return Refusal("a promise against every prior about every single secret is needed")
    return _finite("differential-privacy", epsilon=min(claim["rise"], claim["fall"]))


def _finite(notion: str, epsilon: float, **context: object) -> Claim | Refusal:
    if math.isinf(epsilon):
        return Refusal("the claim leaves the likelihood ratio unbounded")
    return Claim(notion, epsilon=epsilon, **context)


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


def _membership(end: str, *sides: str) -> Rule:
    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        priors = _wanted_priors(claim, goal)
        if priors is None:
            return Refusal("priors are needed whose distributions the claim covers")
        values = []
        for span in spans(priors, events_of(claim.context["events"])):
            if "rise" in sides:
                values.append(rise_of_posterior(claim["rise"], span) if claim["rise"] < math.inf else math.inf)
            if "fall" in sides:
                values.append(
                    rise_of_posterior(claim["fall"], opposite(span)) if claim["fall"] < math.inf else math.inf
                )
        return _finite(end, max(values, default=0.0), priors=priors, events=claim.context["events"])

    return apply


def _from_membership(*sides: str) -> Rule:
    def apply(claim: Claim, _goal: Goal) -> Claim | Refusal:
        priors, events = priors_of(claim.context["priors"]), claim.context["events"]
        found = {"rise": math.inf, "fall": math.inf}
        for side in sides:
            ends = [span if side == "rise" else opposite(span) for span in spans(priors, events_of(events))]
            found[side] = max((ratio_of_rise(claim["epsilon"], span) for span in ends), default=0.0)
        if min(found.values()) == math.inf:
            return Refusal("the prior probabilities of the facts are too far inside (0, 1) to bound any ratio")
        return Claim("event-ratio", **found, priors=any_mass(priors), events=events)

    return apply


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


def _adversarial_to_ratio(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors, events = priors_of(claim.context["priors"]), claim.context["events"]
    found = [ratio_of_excess(claim["epsilon"], claim["delta"], span) for span in spans(priors, events_of(events))]
    rise = max(found, default=0.0)
    if math.isinf(rise):
        return Refusal("the claim leaves the likelihood ratio unbounded")
    return Claim("event-ratio", rise=rise, priors=any_mass(priors), events=events)


def _noiseless_to_ratio(claim: Claim, _goal: Goal) -> Claim:
    priors = any_mass(priors_of(claim.context["priors"]))
    epsilon = claim["epsilon"]
    return Claim("event-ratio", rise=epsilon, fall=epsilon, priors=priors, events=claim.context["events"])


EDGES: Final = (
    Edge(
        "dp-to-indistinguishable",
        "differential-privacy",
        "indistinguishable",
        "epsilon stays",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, Proposition 1",
        Status.PUBLISHED,
        symmetric(pure(renamed("indistinguishable", numbers={"epsilon": "epsilon"}, keep=("relation",)))),
    ),
    Edge(
        "indistinguishable-to-dp",
        "indistinguishable",
        "differential-privacy",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, Proposition 1",
        Status.PUBLISHED,
        renamed("differential-privacy", keep=("relation",)),
    ),
    Edge(
        "dp-to-ratio",
        "differential-privacy",
        "event-ratio",
        "rise and fall are at most epsilon, for any priors and facts",
        "delta = 0 and all pairs of secrets are related",
        Tightness.TIGHT,
        "randomised response between two secrets",
        "after Desfontaines, 2.2.6",
        Status.PROVED,
        everywhere(pure(_to_ratio)),
    ),
    Edge(
        "ratio-to-dp",
        "event-ratio",
        "differential-privacy",
        "epsilon is the smaller of rise and fall",
        "the claim is against every prior and about every single secret",
        Tightness.TIGHT,
        "randomised response between two secrets",
        "priors on two secrets",
        Status.PROVED,
        _ratio_to_dp,
    ),
    Edge(
        "ratio-to-positive",
        "event-ratio",
        "positive-membership",
        "ln max(e^r / (1 + a (e^r - 1)), 1 + b (e^r - 1)) for r = rise and facts of probability a to b; ln((1 "
        "+ e^r) / 2) at one half",
        "",
        Tightness.TIGHT,
        "the report with the largest ratio",
        "Tramèr et al. 2015",
        Status.PROVED,
        _membership("positive-membership", "rise"),
    ),
    Edge(
        "ratio-to-negative",
        "event-ratio",
        "negative-membership",
        "the same with fall for rise, 1 - b for a and 1 - a for b",
        "",
        Tightness.TIGHT,
        "the report with the least ratio",
        "after Tramèr et al. 2015",
        Status.PROVED,
        _membership("negative-membership", "fall"),
    ),
    Edge(
        "ratio-to-membership",
        "event-ratio",
        "membership",
        "the larger of the positive and the negative epsilon",
        "",
        Tightness.TIGHT,
        "the report with the largest or the least ratio",
        "after Tramèr et al. 2015",
        Status.PROVED,
        _membership("membership", "rise", "fall"),
    ),
    Edge(
        "positive-to-ratio",
        "positive-membership",
        "event-ratio",
        "e^rise <= min(e^epsilon (1 - a) / (1 - a e^epsilon), (e^epsilon + b - 1) / b) for facts of "
        "probability a to b; fall stays unknown",
        "",
        Tightness.TIGHT,
        "the report with the largest ratio",
        "Tramèr et al. 2015",
        Status.PROVED,
        _from_membership("rise"),
    ),
    Edge(
        "negative-to-ratio",
        "negative-membership",
        "event-ratio",
        "the same for fall, with 1 - b for a and 1 - a for b; rise stays unknown",
        "",
        Tightness.TIGHT,
        "the report with the least ratio",
        "after Tramèr et al. 2015",
        Status.PROVED,
        _from_membership("fall"),
    ),
    Edge(
        "membership-to-ratio",
        "membership",
        "event-ratio",
        "both, as for positive and negative membership privacy",
        "",
        Tightness.TIGHT,
        "the report with the largest or the least ratio",
        "after Tramèr et al. 2015",
        Status.PROVED,
        _from_membership("rise", "fall"),
    ),
    Edge(
        "membership-to-positive",
        "membership",
        "positive-membership",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "one of its halves",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        renamed("positive-membership", keep=("priors", "events")),
    ),
    Edge(
        "membership-to-negative",
        "membership",
        "negative-membership",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "one of its halves",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        renamed("negative-membership", keep=("priors", "events")),
    ),
    Edge(
        "positive-to-adversarial",
        "positive-membership",
        "adversarial",
        "epsilon stays, delta = 0",
        "",
        Tightness.TIGHT,
        "facts of small prior probability",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        renamed("adversarial", keep=("priors", "events")),
    ),
    Edge(
        "ratio-to-adversarial",
        "event-ratio",
        "adversarial",
        "delta = (sqrt(e^rise) - sqrt(e^epsilon))^2 / (e^rise - 1) over all probabilities of the fact, or less "
        "over some",
        "",
        Tightness.TIGHT,
        "the report with the largest ratio, at one prior probability",
        "derived",
        Status.PROVED,
        _ratio_to_adversarial,
    ),
    Edge(
        "adversarial-to-ratio",
        "adversarial",
        "event-ratio",
        "e^(rise / 2) = (e^(epsilon / 2) + sqrt(delta (e^epsilon - 1 + delta))) / (1 - delta) over all "
        "probabilities of the fact; fall stays unknown",
        "",
        Tightness.TIGHT,
        "the report with the largest ratio",
        "derived",
        Status.PROVED,
        _adversarial_to_ratio,
    ),
    Edge(
        "noiseless-to-ratio",
        "noiseless",
        "event-ratio",
        "rise and fall are at most epsilon",
        "",
        Tightness.TIGHT,
        "attributes of two values",
        "derived",
        Status.PROVED,
        _noiseless_to_ratio,
    ),
)
