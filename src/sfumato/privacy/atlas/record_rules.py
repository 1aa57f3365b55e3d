"""Numbers of implications about what one record changes: semantic, causal and Pufferfish privacy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...intervals import above, exact
from ..beliefs.events import Events
from ..relation import Relation
from .belief_rules import priors_of
from .claims import Claim, covers, to_one_default
from .edge import Changes, Goal, Refusal


def pufferfish_to_noiseless(claim: Claim, _goal: Goal) -> Changes:
    """Return the rivals as facts, where they are the values of an attribute."""
    rivals = claim.context["rivals"]
    if rivals is not None and not isinstance(rivals, Events):
        return Refusal("an attribute or facts with their opposites are needed as rivals")
    return {"events": rivals}


def distribution_to_pufferfish(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's priors and rivals, of a claim about all distributions."""
    if claim.context["family"] is not None or not covers("relation", claim.context["relation"], None):
        return Refusal("a promise about all distributions of secrets is needed")
    return {"priors": goal.context("priors"), "rivals": goal.context("rivals")}


def _map_pairs(maps: NDArray[np.intp]) -> Relation:
    size = maps.shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in maps:
        kept = np.flatnonzero(images >= 0)
        array[kept, images[kept]] = array[images[kept], kept] = True
    return Relation(array, "secrets with and without a record")


def dp_to_semantic(claim: Claim, goal: Goal) -> Changes:
    """Return tanh(epsilon / 4) for defaults, else tanh(epsilon / 2)."""
    maps, relation = goal.context("maps"), claim.context["relation"]
    if covers("relation", relation, None) and (maps is None or to_one_default(maps)):
        return {"epsilon": above(lambda: (exact(claim["epsilon"]) / 4).tanh()), "maps": maps}
    if maps is None:
        return Refusal("any two secrets must be related, or the maps that take a record out be given: maps=")
    if not covers("relation", relation, _map_pairs(np.atleast_2d(np.asarray(maps)))):
        return Refusal("every secret and its image must be related, in both orders")
    return {"epsilon": above(lambda: (exact(claim["epsilon"]) / 2).tanh()), "maps": maps}


def semantic_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return 4 artanh(epsilon) for every secret and its image."""
    sigma, given = claim["epsilon"], claim.context["maps"]
    maps = None if given is None else np.atleast_2d(np.asarray(given))
    if maps is not None and any(not (images[images[images >= 0]] >= 0).all() for images in maps):
        return Refusal("maps are needed that take every secret that they reach")
    if maps is not None and claim.context["possible"] is not True:
        return Refusal("it must be known that the image of a secret may make all its reports: possible=True")
    if sigma >= 1:
        return Refusal("an epsilon below 1 is needed")
    value = above(lambda: 4 * exact(sigma).atanh())
    return {"epsilon": value, "relation": None if maps is None else _map_pairs(maps)}


def _intervention_pairs(interventions: object) -> Relation:
    arrays = [np.asarray(each) for each in interventions]  # type: ignore[attr-defined]
    size = arrays[0].shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for images in arrays:
        for first in images:
            for second in images:
                array[first, second] = True
    return Relation(array, "secrets that differ in one record")


def dp_to_causal(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's interventions, where the claim covers the pairs that they make."""
    interventions = goal.context("interventions")
    if interventions is None:
        return Refusal("the interventions must be given: interventions=")
    if not covers("relation", claim.context["relation"], _intervention_pairs(interventions)):
        return Refusal("all secrets that one intervention makes of the same secret must be related")
    return {"priors": goal.context("priors"), "interventions": interventions}


def causal_to_dp(claim: Claim, _goal: Goal) -> Changes:
    """Return the pairs that interventions make."""
    if priors_of(claim.context["priors"]).listed:
        return Refusal("a promise against every prior is needed")
    return {"relation": _intervention_pairs(claim.context["interventions"])}
