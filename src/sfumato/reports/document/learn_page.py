"""A mechanism that was learned against an attacker: a table, what it means, and a page of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from ...core import Loss, Mechanism, Prior
from ...core.immutable import CompactRepr
from ...files import MechanismFile
from ...geo import Places
from ...learning import Pairs, hiding
from ...optimal import SensitiveDesign
from ...rounding import (
    about_percent,
    amount_at_least,
    amount_at_most,
    at_most,
    gap_at_most,
    percent_at_most,
)
from ..facts import FileFacts
from .figures import map_figures
from .layout import file_section
from .page import Page, PageSection, PageTable

_ROUNDING: Final = 1e-9  # of the loss, relative
_ROUNDED_GAP: Final = 1e-6  # a smaller one is written as this
_FEW_BITS: Final = 1e-6  # fewer are written as so many
_HOW: Final = (
    "The mechanism was trained against an attacker who guesses the hidden value from a report. The certified "
    "optimum was found in another way: on the visits learned from, no mechanism that reports the centres of these "
    "cells does better by the measure that was asked for. Held-out visits are visits that neither of the two has "
    "seen.",
    "What was learned has no guarantee: results may differ for another attacker or for other visits.",
)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Learned(CompactRepr):
    """A learned mechanism and the certified optimum."""

    mechanism: Mechanism
    optimum: SensitiveDesign
    learning: Pairs  # visits learned from
    judging: Pairs  # visits held out
    places: Places
    max_loss_m: float

    @property
    def table(self) -> PageTable:
        """The table: how often the value is found, how many bits a report reveals of it, and the loss."""
        rows = []
        for name, each, data in (
            ("learned", self.mechanism, self.learning),
            ("learned, on held-out visits", self.mechanism, self.judging),
            ("certified optimum", self.optimum.mechanism, self.learning),
            ("certified optimum, on held-out visits", self.optimum.mechanism, self.judging),
        ):
            found = hiding(each, data.joint(self.places), data.loss(self.places))
            bits = at_most(max(found.information_bits, _FEW_BITS), 3)
            rows.append((name, percent_at_most(found.hit_rate), bits, amount_at_most(found.loss, "m")))
        title = f"Hiding the value at a loss of at most {amount_at_most(self.max_loss_m, 'm')}"
        return PageTable(
            title, ("", "finds the value", "information (bits)", "off from the true point"), tuple(rows)
        )

    @property
    def outcome(self) -> str:
        """The outcome on held-out visits in a sentence: how often the value is found, and what it costs."""
        data = self.judging
        held = hiding(self.mechanism, data.joint(self.places), data.loss(self.places))
        return (
            "A mechanism was learned whose reports of places are to hide another value. On visits that it did not "
            f"learn from, the best attacker finds the value {percent_at_most(held.hit_rate)} of the time after "
            f"one report, and {about_percent(1 - data.blind_error)} without a report. A report there is "
            f"{amount_at_most(held.loss, 'm')} off on average."
        )

    @property
    def loss_m(self) -> float:
        """The loss of the learned mechanism on average over the visits learned from, in metres."""
        return float(
            hiding(self.mechanism, self.learning.joint(self.places), self.learning.loss(self.places)).loss
        )

    @property
    def within(self) -> bool:
        """Whether that is within the limit."""
        return self.loss_m <= self.max_loss_m * (1 + _ROUNDING)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on what is found without a report, what is proved, and whether the limit is kept."""
        optimum = self.optimum
        found = [
            f"Without a report the best attacker finds the value "
            f"{about_percent(1 - self.learning.blind_error)} of the time.",
            "Proved: for the visits learned from, a report of the certified optimum reveals at most "
            f"{at_most(_FEW_BITS)} bits of the value, next to nothing."
            if optimum.information_bits <= _FEW_BITS
            else "Proved: for the visits learned from, no mechanism of this loss that reports the centres of "
            f"these cells hides more than the optimum by {gap_at_most(max(optimum.gap, _ROUNDED_GAP))} of its "
            "value.",
        ]
        if not self.within:
            found.append(
                f"NOT within the limit: the learned mechanism is off by at least "
                f"{amount_at_least(self.loss_m, 'm')} "
                f"on average, but at most {amount_at_most(self.max_loss_m, 'm')} was allowed."
            )
        return tuple(found)


def learn_page(
    found: Learned,
    remarks: Sequence[str],
    *,
    finished: bool,
    promises: Sequence[str] = (),
    file: FileFacts | None = None,
) -> Page:
    """Return the page of a learned mechanism."""
    loss: Loss = found.learning.loss(found.places)
    prior = Prior(found.places, found.learning.joint(found.places).sum(axis=0))
    maps = map_figures(MechanismFile(found.mechanism, prior, loss))
    stopped = () if finished else ("NOT FINISHED: the training was stopped.",)
    warned = (*stopped, *(() if found.within else found.sentences[-1:]))
    kept = PageSection("The promise", tuple(promises)) if promises else None
    sections = (
        PageSection("What was found", (*_HOW[: 1 if promises else 2], *found.sentences), tables=(found.table,)),
        *([kept] if kept else []),
        *([PageSection("On the map", figures=maps)] if maps else []),
        *([file_section(file)] if file is not None else []),
    )
    lead = (*warned, found.outcome, *remarks)
    return Page("A mechanism that was learned", lead, sections, warning=bool(warned))
