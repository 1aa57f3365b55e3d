"""Relations over seeds: what runs found of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr

from ..reproduction import interval
from .relation import KnownRow, RelationRow


@dataclass(frozen=True, slots=True, repr=False)
class RelationSummary(CompactRepr):
    """A relation over all seeds.

    Attributes:
        relation: Its name.
        where: Its place in the thesis.
        says: The relation, in a sentence.
        published: Whether it is a published one.
        seeds: The number of seeds.
        instances: The random channels to which it applied.
        violations: Those that break it.
        mean_share: The share of what is allowed that was found, averaged over channels: the mean over seeds, with
            an interval of 95 % within what is possible; infinite where something was found and nothing is allowed.
        tightness: The largest share.
        known_allowed: What it allows of its known channel.
        known_found: What was found there.
        known_channel: The rows of that channel.
        fails: Whether a channel, random or known, breaks it.
    """

    relation: str
    where: str
    says: str
    published: bool
    seeds: int
    instances: int
    violations: int
    mean_share: Bracket
    tightness: float
    known_allowed: float
    known_found: float
    known_channel: str
    fails: bool


def summaries(rows: Sequence[RelationRow], known: Sequence[KnownRow]) -> list[RelationSummary]:
    """Return what was found of each relation, in their order."""
    found = []
    for each in known:
        own = [row for row in rows if row.relation == each.relation]
        shares = [row.mean_share for row in own]
        finite = all(math.isfinite(share) for share in shares)
        found.append(
            RelationSummary(
                each.relation,
                own[0].where,
                each.says,
                own[0].published,
                len(own),
                sum(row.instances for row in own),
                sum(row.violations for row in own),
                _share(shares) if finite else Bracket(math.inf, math.inf, math.inf),
                max(row.tightness for row in own),
                each.allowed,
                each.found,
                each.channel,
                each.violated or any(row.violations for row in own),
            )
        )
    return found


def _share(shares: Sequence[float]) -> Bracket:
    """Return the mean with its interval, of which no more than 0 to 1 is possible where a relation holds."""
    found = interval(shares)
    most = max(1.0, found.value)
    return Bracket(max(0.0, found.lower), found.value, min(found.upper, most))
