"""Implications between notions of what one record changes: semantic, causal and Pufferfish privacy."""

from __future__ import annotations

import numpy as np

from ....intervals import above, exact
from ...beliefs.events import Events
from ...relation import Relation
from ..claims import Claim
from ..contexts import covers, to_one_default
from ..edge import Basis, Goal, Refusal, Tightness, edge, pure
from .facts import priors_of


@edge(
    "noiseless-to-pufferfish",
    start="noiseless",
    end="pufferfish",
    rule="epsilon stays, with the values of the attribute as rivals",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _noiseless_to_pufferfish(claim: Claim, _goal: Goal) -> Claim:
    context = {"priors": claim.context["priors"], "rivals": claim.context["events"]}
    return Claim("pufferfish", epsilon=claim["epsilon"], **context)


@edge(
    "pufferfish-to-noiseless",
    start="pufferfish",
    end="noiseless",
    rule="epsilon stays",
    needs="the rivals are the values of an attribute, or facts and their opposites",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _pufferfish_to_noiseless(claim: Claim, _goal: Goal) -> Claim | Refusal:
    rivals = claim.context["rivals"]
    if rivals is not None and not isinstance(rivals, Events):
        return Refusal("an attribute or facts with their opposites are needed as rivals")
    return Claim("noiseless", epsilon=claim["epsilon"], priors=claim.context["priors"], events=rivals)


@edge(
    "distp-to-pufferfish",
    start="distribution-privacy",
    end="pufferfish",
    rule="epsilon stays: conditioned beliefs are distributions of secrets",
    needs="delta = 0 and the promise is about all distributions",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Desfontaines, 2.2.6; Kifer and Machanavajjhala 2014",
    basis=Basis.PROVED,
)
@pure
def _distp_to_pufferfish(claim: Claim, goal: Goal) -> Claim | Refusal:
    if claim.context["family"] is not None or not covers("relation", claim.context["relation"], None):
        return Refusal("a promise about all distributions of secrets is needed")
    return Claim(
        "pufferfish", epsilon=claim["epsilon"], priors=goal.context("priors"), rivals=goal.context("rivals")
    )


def _map_pairs(maps: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Relation:
    size = maps.shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in maps:
        kept = np.flatnonzero(images >= 0)
        array[kept, images[kept]] = array[images[kept], kept] = True
    return Relation(array, "secrets with and without a record")


@edge(
    "dp-to-semantic",
    start="differential-privacy",
    end="semantic",
    rule=(
        "tanh(epsilon / 4) for defaults where any two secrets are related, else tanh(epsilon / 2); the published "
        "e^epsilon - 1 is larger"
    ),
    needs="delta = 0, and any two secrets, or every secret and its image, are related",
    tightness=Tightness.TIGHT,
    witness="randomised response, for a default and for a map that exchanges two secrets",
    source="sharpens Kasiviswanathan and Smith 2014",
    basis=Basis.PROVED,
)
@pure
def _to_semantic(claim: Claim, goal: Goal) -> Claim | Refusal:
    maps, relation = goal.context("maps"), claim.context["relation"]
    if covers("relation", relation, None) and (maps is None or to_one_default(maps)):
        value = above(lambda: (exact(claim["epsilon"]) / 4).tanh())
        return Claim("semantic", epsilon=value, maps=maps)
    if maps is None:
        return Refusal("any two secrets must be related, or the maps that take a record out be given: maps=")
    if not covers("relation", relation, _map_pairs(np.atleast_2d(np.asarray(maps)))):
        return Refusal("every secret and its image must be related, in both orders")
    value = above(lambda: (exact(claim["epsilon"]) / 2).tanh())
    return Claim("semantic", epsilon=value, maps=maps)


@edge(
    "semantic-to-dp",
    start="semantic",
    end="differential-privacy",
    rule=(
        "4 artanh(epsilon), for any two secrets where every default is meant, else for every secret and its "
        "image (the published 2 artanh(2 epsilon) is larger)"
    ),
    needs=(
        "every default is meant; or the maps take every secret that they reach, and its image may make all "
        "reports of a secret"
    ),
    tightness=Tightness.TIGHT,
    witness="a map of two secrets to one of them",
    source="derived; compare arXiv 1911.00761",
    basis=Basis.PROVED,
)
def _semantic_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    sigma, given = claim["epsilon"], claim.context["maps"]
    maps = None if given is None else np.atleast_2d(np.asarray(given))
    if maps is not None and any(not (images[images[images >= 0]] >= 0).all() for images in maps):
        return Refusal("maps are needed that take every secret that they reach")
    if maps is not None and claim.context["possible"] is not True:
        return Refusal("it must be known that the image of a secret may make all its reports: possible=True")
    if sigma >= 1:
        return Refusal("an epsilon below 1 is needed")
    value = above(lambda: 4 * exact(sigma).atanh())
    return Claim("differential-privacy", epsilon=value, relation=None if maps is None else _map_pairs(maps))


def _intervention_pairs(interventions: object) -> Relation:
    arrays = [np.asarray(each) for each in interventions]  # type: ignore[attr-defined]
    size = arrays[0].shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in arrays:
        for first in images:
            for second in images:
                array[first, second] = True
    return Relation(array, "secrets that differ in one record")


@edge(
    "dp-to-causal",
    start="differential-privacy",
    end="causal",
    rule="epsilon stays, for any priors",
    needs="delta = 0 and all secrets that one intervention makes of the same secret are related",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Desfontaines, definition 34",
    basis=Basis.PROVED,
)
@pure
def _to_causal(claim: Claim, goal: Goal) -> Claim | Refusal:
    interventions = goal.context("interventions")
    if interventions is None:
        return Refusal("the interventions must be given: interventions=")
    if not covers("relation", claim.context["relation"], _intervention_pairs(interventions)):
        return Refusal("all secrets that one intervention makes of the same secret must be related")
    return Claim("causal", epsilon=claim["epsilon"], priors=goal.context("priors"), interventions=interventions)


@edge(
    "causal-to-dp",
    start="causal",
    end="differential-privacy",
    rule="epsilon stays, for the pairs that interventions make",
    needs="the claim is against every prior",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Desfontaines, definition 34",
    basis=Basis.PROVED,
)
def _causal_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if priors.listed:
        return Refusal("a promise against every prior is needed")
    return Claim(
        "differential-privacy",
        epsilon=claim["epsilon"],
        relation=_intervention_pairs(claim.context["interventions"]),
    )
