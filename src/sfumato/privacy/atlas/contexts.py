"""Contexts of claims: when a promise about one relation, metric or set of beliefs includes that about another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core import Metric, Prior, Space
from ..beliefs.events import Events
from ..beliefs.priors import Priors
from ..beliefs.pufferfish import Rivals
from ..curves.trade_off import TradeOff
from ..distributions.family import Family
from ..relation import Relation


def covers(name: str, held: object, wanted: object) -> bool:
    """Return whether a promise about one context includes the promise about another of the same name."""
    if held is wanted:
        return True
    if name == "relation":
        return _relation_covers(held, wanted)
    if name == "divergence":
        return divergence_name(held) == divergence_name(wanted)
    if name == "priors":
        return _priors_cover(held, wanted)
    if name == "events":
        return _same_events(held, wanted)
    if name == "possible":
        return not wanted
    if isinstance(held, Metric) and isinstance(wanted, Metric):
        return held.unit == wanted.unit and np.array_equal(held.array, wanted.array)
    if name == "maps":
        return _maps_cover(held, wanted)
    if name in ("family", "rivals", "curve"):
        return _equal(held, wanted)
    if name == "interventions" and isinstance(held, Sequence) and isinstance(wanted, Sequence):
        return len(held) == len(wanted) and all(map(np.array_equal, held, wanted))
    return False


def divergence_name(divergence: object) -> str:
    """Return the name of a divergence that was given by name or as an object."""
    return divergence if isinstance(divergence, str) else str(getattr(divergence, "name", divergence))


_CONTENT: Final = {
    Family: ("distributions", "pairs"),
    Rivals: ("facts", "pairs"),
    TradeOff: ("null", "alternative"),
}
"""The arrays that make two objects say the same."""


def _equal(held: object, wanted: object) -> bool:
    arrays = _CONTENT.get(type(held))
    if arrays is None or type(held) is not type(wanted):
        return held == wanted
    return all(np.array_equal(getattr(held, name), getattr(wanted, name)) for name in arrays)


def _relation_covers(held: object, wanted: object) -> bool:
    if held is None:
        return True
    if not isinstance(held, Relation):
        return False
    if wanted is None:
        return len(held) == held.size * (held.size - 1)
    return isinstance(wanted, Relation) and held.size == wanted.size and bool((held.array | ~wanted.array).all())


def _priors_cover(held: object, wanted: object) -> bool:
    inside, outside = (Priors.all() if priors is None else priors for priors in (wanted, held))
    if not isinstance(inside, Priors) or not isinstance(outside, Priors):
        return False
    known = {_content(prior) for prior in outside.listed}
    among = {_content(prior) for prior in inside.listed} <= known
    if outside.interval is None:
        return inside.interval is None and among
    if outside.listed and not (inside.listed and among):
        return False
    low, high = inside.interval if inside.interval is not None else (0.0, 1.0)
    return outside.interval[0] <= low and high <= outside.interval[1]


def to_one_default(maps: object) -> bool:
    """Return whether each map sends every secret that it takes to one default."""
    return all(len(np.unique(images[images >= 0])) <= 1 for images in np.atleast_2d(np.asarray(maps)))


def _maps_cover(held: object, wanted: object) -> bool:
    if held is None or wanted is None:
        return held is None and to_one_default(wanted)
    return np.array_equal(np.atleast_2d(np.asarray(held)), np.atleast_2d(np.asarray(wanted)))


def _content(prior: Prior) -> tuple[Space, bytes]:
    """Return what two equal beliefs have in common."""
    return prior.space, (prior.probabilities + 0.0).tobytes()


def _same_events(held: object, wanted: object) -> bool:
    given = [each for each in (held, wanted) if isinstance(each, Events)]
    if not given:
        return held is wanted
    size = given[0].size
    first, second = (each if isinstance(each, Events) else Events.singletons(size) for each in (held, wanted))
    same = first.masks.shape == second.masks.shape and bool((first.masks == second.masks).all())
    return same and first.attribute == second.attribute
