"""Implications between notions for adversaries who know much or little of the secret."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...core import blind_error
from ...core.guarantees import as_distance
from .._outward import above, below, exact
from ..beliefs.events import Events
from ..beliefs.priors import Priors
from ..relation import Relation
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
    minimum = below(lambda: exact(safe) * (-exact(claim["epsilon"])).exp())
    return Claim("distortion", minimum=max(minimum, 0.0), distance=distance, priors=wanted)


def _to_semantic(claim: Claim, goal: Goal) -> Claim | Refusal:
    if goal.context("maps") is None:
        return Refusal("the maps that take a record out must be given: maps=")
    maps = np.atleast_2d(np.asarray(goal.context("maps")))
    if not covers("relation", claim.context["relation"], _map_pairs(maps)):
        return Refusal("every secret and its image must be related, in both orders")
    value = above(lambda: (exact(claim["epsilon"]) / 2).tanh())
    return Claim("semantic", epsilon=value, maps=goal.context("maps"))


def _map_pairs(maps: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Relation:
    size = maps.shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in maps:
        kept = np.flatnonzero(images >= 0)
        array[kept, images[kept]] = array[images[kept], kept] = True
    return Relation(array, "secrets with and without a record")


def _semantic_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    sigma = claim["epsilon"]
    maps = np.atleast_2d(np.asarray(claim.context["maps"]))
    if any(not (images[images[images >= 0]] >= 0).all() for images in maps):
        return Refusal("maps are needed that take every secret that they reach")
    if claim.context["possible"] is not True:
        return Refusal("it must be known that the image of a secret may make all its reports: possible=True")
    if sigma >= 1:
        return Refusal("an epsilon below 1 is needed")
    value = above(lambda: 4 * exact(sigma).atanh())
    return Claim("differential-privacy", epsilon=value, relation=_map_pairs(maps))


def _to_causal(claim: Claim, goal: Goal) -> Claim | Refusal:
    interventions = goal.context("interventions")
    if interventions is None:
        return Refusal("the interventions must be given: interventions=")
    if not covers("relation", claim.context["relation"], _intervention_pairs(interventions)):
        return Refusal("all secrets that one intervention makes of the same secret must be related")
    return Claim("causal", epsilon=claim["epsilon"], priors=goal.context("priors"), interventions=interventions)


def _intervention_pairs(interventions: object) -> Relation:
    arrays = [np.asarray(each) for each in interventions]  # type: ignore[attr-defined]
    size = arrays[0].shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in arrays:
        for first in images:
            for second in images:
                array[first, second] = True
    return Relation(array, "secrets that differ in one record")


def _causal_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if priors.listed:
        return Refusal("a promise against every prior is needed")
    return Claim(
        "differential-privacy",
        epsilon=claim["epsilon"],
        relation=_intervention_pairs(claim.context["interventions"]),
    )


def _noiseless_to_pufferfish(claim: Claim, _goal: Goal) -> Claim:
    context = {"priors": claim.context["priors"], "rivals": claim.context["events"]}
    return Claim("pufferfish", epsilon=claim["epsilon"], **context)


def _pufferfish_to_noiseless(claim: Claim, _goal: Goal) -> Claim | Refusal:
    rivals = claim.context["rivals"]
    if rivals is not None and not isinstance(rivals, Events):
        return Refusal("an attribute or facts with their opposites are needed as rivals")
    return Claim("noiseless", epsilon=claim["epsilon"], priors=claim.context["priors"], events=rivals)


def _distp_to_pufferfish(claim: Claim, goal: Goal) -> Claim | Refusal:
    if claim.context["family"] is not None or not covers("relation", claim.context["relation"], None):
        return Refusal("a promise about all distributions of secrets is needed")
    return Claim(
        "pufferfish", epsilon=claim["epsilon"], priors=goal.context("priors"), rivals=goal.context("rivals")
    )


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
        "noiseless-to-pufferfish",
        "noiseless",
        "pufferfish",
        "epsilon stays, with the values of the attribute as rivals",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        _noiseless_to_pufferfish,
    ),
    Edge(
        "pufferfish-to-noiseless",
        "pufferfish",
        "noiseless",
        "epsilon stays",
        "the rivals are the values of an attribute, or facts and their opposites",
        Tightness.TIGHT,
        "every mechanism",
        "Desfontaines, 2.2.6",
        Status.DEFINITION,
        _pufferfish_to_noiseless,
    ),
    Edge(
        "distp-to-pufferfish",
        "distribution-privacy",
        "pufferfish",
        "epsilon stays: conditioned beliefs are distributions of secrets",
        "delta = 0 and the promise is about all distributions",
        Tightness.TIGHT,
        "point masses",
        "Desfontaines, 2.2.6; Kifer and Machanavajjhala 2014",
        Status.PROVED,
        pure(_distp_to_pufferfish),
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
        "the minimum is e^-epsilon times the error of the best blind guess",
        "the prior is covered by the claim",
        Tightness.OPEN,
        "right for epsilon = 0",
        "derived",
        Status.PROVED,
        _information_to_distortion,
    ),
    Edge(
        "dp-to-semantic",
        "differential-privacy",
        "semantic",
        "tanh(epsilon / 2), which is less than the printed e^epsilon - 1",
        "delta = 0 and every secret and its image are related",
        Tightness.TIGHT,
        "a map that exchanges two secrets of randomised response",
        "sharpens Kasiviswanathan and Smith 2014",
        Status.PROVED,
        pure(_to_semantic),
    ),
    Edge(
        "semantic-to-dp",
        "semantic",
        "differential-privacy",
        "4 artanh(epsilon) for every secret and its image (the printed 2 artanh(2 epsilon) is larger)",
        "the maps take every secret that they reach, and its image may make all reports of a secret",
        Tightness.TIGHT,
        "a map of two secrets to one of them",
        "derived; compare arXiv 1911.00761",
        Status.PROVED,
        _semantic_to_dp,
    ),
    Edge(
        "dp-to-causal",
        "differential-privacy",
        "causal",
        "epsilon stays, for any priors",
        "delta = 0 and all secrets that one intervention makes of the same secret are related",
        Tightness.TIGHT,
        "point masses",
        "Desfontaines, definition 34",
        Status.PROVED,
        pure(_to_causal),
    ),
    Edge(
        "causal-to-dp",
        "causal",
        "differential-privacy",
        "epsilon stays, for the pairs that interventions make",
        "the claim is against every prior",
        Tightness.TIGHT,
        "point masses",
        "Desfontaines, definition 34",
        Status.PROVED,
        _causal_to_dp,
    ),
)
