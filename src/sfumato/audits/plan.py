"""What an audit of a mechanism will measure, settled before the first measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import final

from ..core import Mechanism
from ..privacy import Notion
from .choice import AtHand, asked, chosen, fixed
from .entries import measured
from .findings import Audit, Entry
from .measures import check_measure, measures
from .request import Request


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The notions that an audit measures, with all that they need: what could be refused was.

    Attributes:
        mechanism: The mechanism.
        hand: What is known beside it.
        notions: The notions, each under a name of its own.
    """

    mechanism: Mechanism
    hand: AtHand
    notions: tuple[Notion, ...]

    def measured(self, progress: Callable[[Entry], None] | None = None) -> Audit:
        """Return what the notions and measures find.

        Args:
            progress: Called with each entry as it is found.
        """
        prior, metric = self.hand.prior, self.hand.metric
        notions = (measured(notion, self.mechanism) for notion in self.notions)
        entries = []
        for entry in chain(notions, measures(self.mechanism, prior, metric)):
            if progress is not None:
                progress(entry)
            entries.append(entry)
        notes = [
            "The values are for one report. Over k reports of one person, the epsilon of differential and of "
            "metric privacy is at most k times as large; what is promised under a prior may grow by more."
        ]
        if prior is None:
            notes.append("No prior was given: what an attacker gains under one was not measured.")
        if metric is None:
            notes.append("No metric was given: epsilon per unit of distance and errors were not measured.")
        return Audit(repr(self.mechanism), tuple(entries), tuple(notes))


def planned(mechanism: Mechanism, hand: AtHand, also: Iterable[Request]) -> Plan:
    """Settle what an audit measures.

    Args:
        mechanism: The mechanism.
        hand: What is known beside it.
        also: What is wanted beside the usual notions.

    Raises:
        InputError: If a request names nothing that can be measured, or something that it
            needs was not given.
    """
    named = [_named(each, hand) for each in also]
    wanted = chain(chosen(hand), (notion for notion in named if notion is not None))
    return Plan(mechanism, hand, tuple(_distinct(wanted)))


def _named(request: Request, hand: AtHand) -> Notion | None:
    """Return the notion of a request; None if it names a measure, which is measured anyway.

    Raises:
        InputError: If it names neither, or something that it needs was not given.
    """
    found = asked(request, hand)
    if found is None:
        check_measure(request.name, hand.prior, hand.metric)
    return found


def _distinct(notions: Iterable[Notion]) -> Iterable[Notion]:
    """Yield the notions without those whose entry would be a second one of the same name."""
    seen = set()
    for notion in notions:
        name = (notion.key, notion.parameter, *sorted(fixed(notion).items()))
        if name not in seen:
            seen.add(name)
            yield notion
