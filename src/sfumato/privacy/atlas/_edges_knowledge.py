"""Implications between notions for adversaries who know the prior: noiseless, information and membership."""

from __future__ import annotations

from typing import Final

from ...core import blind_error
from ...core.guarantees import as_distance
from ...intervals import above, below, exact
from ..beliefs.priors import Priors
from ._contexts import EVERY, every_secret, holds_all, priors_of
from ._edge import Edge, Goal, Refusal, Rule, Status, Tightness, everywhere, pure, renamed
from .claims import Claim, covers


def _to_aposteriori(claim: Claim, _goal: Goal) -> Claim:
    return Claim("aposteriori-noiseless", epsilon=claim["epsilon"], **dict(claim.context))


def _to_noiseless(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if priors.interval is not None and priors.interval != EVERY:
        return Refusal("given priors, or all, are needed")
    return Claim("noiseless", epsilon=above(lambda: 2 * exact(claim["epsilon"])), **dict(claim.context))


def _noiseless_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if not every_secret(claim) or not (holds_all(priors) or not priors.listed):
        return Refusal(
            "a prior that holds every secret possible is needed, and the secret itself as the attribute"
        )
    return Claim("differential-privacy", epsilon=claim["epsilon"])


def _dp_with(end: str, *names: str) -> Rule:
    def apply(claim: Claim, goal: Goal) -> Claim:
        return Claim(end, epsilon=claim["epsilon"], **{name: goal.context(name) for name in names})

    return apply


def _information_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if not priors.listed and priors.interval == EVERY:
        return Claim("differential-privacy", epsilon=claim["epsilon"])
    if not holds_all(priors):
        return Refusal("a prior that holds every secret possible is needed")
    return Claim("differential-privacy", epsilon=above(lambda: 2 * exact(claim["epsilon"])))


def _information_to_membership(claim: Claim, goal: Goal) -> Claim | Refusal:
    if priors_of(claim.context["priors"]).interval not in (None, EVERY):
        return Refusal("given priors, or all, are needed")
    return Claim(
        "membership", epsilon=claim["epsilon"], priors=claim.context["priors"], events=goal.context("events")
    )


def _aposteriori_to_information(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not every_secret(claim):
        return Refusal("the secret itself as the attribute is needed")
    return Claim("information", epsilon=claim["epsilon"], priors=claim.context["priors"])


def _information_to_distortion(claim: Claim, goal: Goal) -> Claim | Refusal:
    distance, wanted = goal.context("distance"), goal.context("priors")
    held = priors_of(claim.context["priors"])
    if (
        distance is None
        or not isinstance(wanted, Priors)
        or len(wanted.listed) != 1
        or wanted.interval is not None
    ):
        return Refusal("the distance and one prior must be given: distance= and priors=Priors.of(prior)")
    if not covers("priors", held, wanted):
        return Refusal("a prior is needed that the claim covers")
    array = as_distance(distance).array  # type: ignore[arg-type]
    blind = blind_error(wanted.listed[0].probabilities, array)
    # The sum of n products errs by at most a relative n 2**-53.
    safe = blind * (1 - (array.shape[1] + 8) * 2.0**-52)
    least = below(lambda: exact(safe) * (-exact(claim["epsilon"])).exp())
    return Claim("distortion", error=max(least, 0.0), distance=distance, priors=wanted)


EDGES: Final = (
    Edge(
        "dp-to-noiseless",
        "differential-privacy",
        "noiseless",
        "epsilon stays, for any priors and attribute",
        "delta = 0 and all pairs of secrets are related",
        Tightness.TIGHT,
        "randomised response between two secrets",
        "Desfontaines, 2.2.6",
        Status.PROVED,
        everywhere(pure(_dp_with("noiseless", "priors", "events"))),
    ),
    Edge(
        "noiseless-to-dp",
        "noiseless",
        "differential-privacy",
        "epsilon stays",
        "the attribute is the secret itself and a prior holds every secret possible",
        Tightness.TIGHT,
        "every mechanism",
        "by the definitions",
        Status.PROVED,
        _noiseless_to_dp,
    ),
    Edge(
        "noiseless-to-aposteriori",
        "noiseless",
        "aposteriori-noiseless",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "approached with values of small probability",
        "derived",
        Status.PROVED,
        _to_aposteriori,
    ),
    Edge(
        "aposteriori-to-noiseless",
        "aposteriori-noiseless",
        "noiseless",
        "epsilon is doubled",
        "the priors are given, or all",
        Tightness.TIGHT,
        "approached with two values of small probability, one likelier and one less likely than the rest",
        "derived",
        Status.PROVED,
        _to_noiseless,
    ),
    Edge(
        "aposteriori-to-membership",
        "aposteriori-noiseless",
        "membership",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "derived",
        Status.PROVED,
        renamed("membership", keep=("priors", "events")),
    ),
    Edge(
        "membership-to-aposteriori",
        "membership",
        "aposteriori-noiseless",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "derived",
        Status.PROVED,
        renamed("aposteriori-noiseless", keep=("priors", "events")),
    ),
    Edge(
        "noiseless-to-inferential",
        "noiseless",
        "inferential",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Ghosh and Kleinberg 2017",
        Status.DEFINITION,
        renamed("inferential", keep=("priors", "events")),
    ),
    Edge(
        "inferential-to-noiseless",
        "inferential",
        "noiseless",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Ghosh and Kleinberg 2017",
        Status.DEFINITION,
        renamed("noiseless", keep=("priors", "events")),
    ),
    Edge(
        "noiseless-to-identity",
        "noiseless",
        "identity",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        renamed("identity", keep=("priors", "events")),
    ),
    Edge(
        "identity-to-noiseless",
        "identity",
        "noiseless",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        renamed("noiseless", keep=("priors", "events")),
    ),
    Edge(
        "dp-to-information",
        "differential-privacy",
        "information",
        "epsilon stays, for any priors",
        "delta = 0 and all pairs of secrets are related",
        Tightness.TIGHT,
        "approached with a prior near a point mass",
        "du Pin Calmon and Fawaz 2012",
        Status.PROVED,
        everywhere(pure(_dp_with("information", "priors"))),
    ),
    Edge(
        "information-to-dp",
        "information",
        "differential-privacy",
        "epsilon is doubled; it stays if the claim is against every prior",
        "a prior holds every secret possible",
        Tightness.TIGHT,
        "approached with two secrets of small probability, one likelier and one less likely to report it than "
        "the rest",
        "du Pin Calmon and Fawaz 2012",
        Status.PUBLISHED,
        _information_to_dp,
    ),
    Edge(
        "information-to-membership",
        "information",
        "membership",
        "epsilon stays, for any facts",
        "the priors are given, or all",
        Tightness.TIGHT,
        "single secrets",
        "derived",
        Status.PROVED,
        _information_to_membership,
    ),
    Edge(
        "aposteriori-to-information",
        "aposteriori-noiseless",
        "information",
        "epsilon stays",
        "the attribute is the secret itself",
        Tightness.TIGHT,
        "every mechanism",
        "by the definitions",
        Status.DEFINITION,
        _aposteriori_to_information,
    ),
    Edge(
        "information-to-distortion",
        "information",
        "distortion",
        "the error is e^-epsilon times the error of the best blind guess",
        "the prior is covered by the claim",
        Tightness.OPEN,
        "right for epsilon = 0",
        "derived",
        Status.PROVED,
        _information_to_distortion,
    ),
)
