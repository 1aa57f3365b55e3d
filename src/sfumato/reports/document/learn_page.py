"""The table and the page of a mechanism that was learned against an attacker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from ...core import Loss, Mechanism, Prior
from ...core.immutable import CompactRepr
from ...files import MechanismFile
from ...geo import Places
from ...learning import Hiding, Pairs, hiding
from ...optimal import SensitiveDesign
from ...rounding import amount_at_most
from ..facts import FileFacts
from ..sentences import TRAINING_STOPPED, certified_words, examples_words, excess_words, hiding_rows, learned_words
from .figures import map_figures
from .layout import file_section
from .page import Page, PageSection, PageTable

_ROUNDING: Final = 1e-9  # of the loss, relative
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
        mechanisms = {"learned": self.mechanism, "certified optimum": self.optimum.mechanism}
        results = (
            (f"{name}{where}", self._hiding(mechanism, data))
            for name, mechanism in mechanisms.items()
            for where, data in (("", self.learning), (", on held-out visits", self.judging))
        )
        title = f"Hiding the value at a loss of at most {amount_at_most(self.max_loss_m, 'm')}"
        return PageTable(title, *hiding_rows(results))

    @property
    def outcome(self) -> str:
        """The attacker's success and the loss on held-out visits, in sentences."""
        return learned_words(self._hiding(self.mechanism, self.judging), self.judging.blind_error)

    @property
    def loss_m(self) -> float:
        """The average loss of the learned mechanism on the training visits, metres."""
        return float(self._hiding(self.mechanism, self.learning).loss)

    @property
    def within(self) -> bool:
        """Whether that is within the limit."""
        return self.loss_m <= self.max_loss_m * (1 + _ROUNDING)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The attacker's success without a report, what is proved, and whether the limit is exceeded."""
        excess = () if self.within else (excess_words(self.loss_m, self.max_loss_m),)
        return (*certified_words(self.optimum, self.learning.blind_error), *excess)

    def _hiding(self, mechanism: Mechanism, data: Pairs) -> Hiding:
        return hiding(mechanism, data.joint(self.places), data.loss(self.places))


def learn_page(
    learned: Learned,
    *,
    finished: bool,
    promises: Sequence[str] = (),
    file: FileFacts | None = None,
) -> Page:
    """Return the page of a learned mechanism."""
    loss: Loss = learned.learning.loss(learned.places)
    prior = Prior(learned.places, learned.learning.joint(learned.places).sum(axis=0))
    maps = map_figures(MechanismFile(learned.mechanism, prior, loss))
    stopped = () if finished else (TRAINING_STOPPED,)
    warned = (*stopped, *(() if learned.within else learned.sentences[-1:]))
    how = _HOW[: 1 if promises else 2]
    sections = (
        PageSection("What was found", (*how, *learned.sentences), tables=(learned.table,)),
        *([PageSection("The guarantee", tuple(promises))] if promises else []),
        *([PageSection("On the map", figures=maps)] if maps else []),
        *([file_section(file)] if file is not None else []),
    )
    examples = examples_words(len(learned.learning), len(learned.judging), len(learned.learning.space))
    lead = (*warned, learned.outcome, examples)
    return Page("A mechanism that was learned", lead, sections, warning=bool(warned))
