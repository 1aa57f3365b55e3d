"""The table and the page of a mechanism that was learned against an attacker."""

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
_FEW_BITS: Final = 1e-6  # fewer are written as this
_HOW: Final = (
    "The mechanism was trained against an attacker who guesses the hidden value from a report. The certified "
    "optimum was computed separately: on the training visits, no mechanism that reports the centres of these "
    "cells is better in the chosen measure. Neither of the two has seen the held-out visits.",
    "What was learned has no guarantee: results may differ for another attacker or for other visits.",
)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Learned(CompactRepr):
    """A learned mechanism and the certified optimum."""

    mechanism: Mechanism
    optimum: SensitiveDesign
    learning: Pairs  # training visits
    judging: Pairs  # held-out visits
    places: Places
    max_loss_m: float

    @property
    def table(self) -> PageTable:
        """The attacker's success, the information in bits and the loss, of both on both sets of visits."""
        rows = []
        for name, each, data in (
            ("learned", self.mechanism, self.learning),
            ("learned, on held-out visits", self.mechanism, self.judging),
            ("certified optimum", self.optimum.mechanism, self.learning),
            ("certified optimum, on held-out visits", self.optimum.mechanism, self.judging),
        ):
            result = hiding(each, data.joint(self.places), data.loss(self.places))
            bits = at_most(max(result.information_bits, _FEW_BITS), 3)
            rows.append((name, percent_at_most(result.hit_rate), bits, amount_at_most(result.loss, "m")))
        title = f"Hiding the value at a loss of at most {amount_at_most(self.max_loss_m, 'm')}"
        headings = ("", "finds the value", "information (bits)", "off from the true point")
        return PageTable(title, headings, tuple(rows))

    @property
    def outcome(self) -> str:
        """The attacker's success and the loss on held-out visits, in sentences."""
        data = self.judging
        result = hiding(self.mechanism, data.joint(self.places), data.loss(self.places))
        return (
            "A mechanism was learned whose reports of places are to hide another value. On held-out visits, the "
            f"best attacker finds the value {percent_at_most(result.hit_rate)} of the time after one report "
            f"({about_percent(1 - data.blind_error)} without a report). Reports are "
            f"{amount_at_most(result.loss, 'm')} from the true point on average."
        )

    @property
    def loss_m(self) -> float:
        """The average loss of the learned mechanism on the training visits, metres."""
        data = self.learning
        return float(hiding(self.mechanism, data.joint(self.places), data.loss(self.places)).loss)

    @property
    def within(self) -> bool:
        """Whether that is within the limit."""
        return self.loss_m <= self.max_loss_m * (1 + _ROUNDING)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The attacker's success without a report, what is proved, and whether the limit is exceeded."""
        optimum = self.optimum
        sentences = [
            f"Without a report the best attacker finds the value "
            f"{about_percent(1 - self.learning.blind_error)} of the time.",
            "Proved: on the training visits, a report of the certified optimum reveals at most "
            f"{at_most(_FEW_BITS)} bits of the value, next to nothing."
            if optimum.information_bits <= _FEW_BITS
            else "Proved: on the training visits, no mechanism of this loss that reports the centres of these "
            f"cells hides more than the optimum by {gap_at_most(max(optimum.gap, _ROUNDED_GAP))} of its value.",
        ]
        if not self.within:
            sentences.append(
                "NOT within the limit: the average loss of the learned mechanism is at least "
                f"{amount_at_least(self.loss_m, 'm')}, but at most {amount_at_most(self.max_loss_m, 'm')} was "
                "allowed."
            )
        return tuple(sentences)


def learn_page(
    learned: Learned,
    remarks: Sequence[str],
    *,
    finished: bool,
    promises: Sequence[str] = (),
    file: FileFacts | None = None,
) -> Page:
    """Return the page of a learned mechanism."""
    loss: Loss = learned.learning.loss(learned.places)
    prior = Prior(learned.places, learned.learning.joint(learned.places).sum(axis=0))
    maps = map_figures(MechanismFile(learned.mechanism, prior, loss))
    stopped = () if finished else ("NOT FINISHED: the training was stopped.",)
    warned = (*stopped, *(() if learned.within else learned.sentences[-1:]))
    how = _HOW[: 1 if promises else 2]
    sections = (
        PageSection("What was found", (*how, *learned.sentences), tables=(learned.table,)),
        *([PageSection("The guarantee", tuple(promises))] if promises else []),
        *([PageSection("On the map", figures=maps)] if maps else []),
        *([file_section(file)] if file is not None else []),
    )
    lead = (*warned, learned.outcome, *remarks)
    return Page("A mechanism that was learned", lead, sections, warning=bool(warned))
