"""The page of an audit: what was proved of the promise, what was measured, and whether requirements hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ...audits import Audit, Outcome, Verdict
from ...core.immutable import CompactRepr
from ..summary import Summary
from .facts import FileFacts
from .layout import file_section, notion_sections
from .measured import notions_of
from .page import Page, PageSection
from .words import framed

_PROOFS = {
    Outcome.HOLDS: "Everything that the file promises was proved anew when this page was written.",
    Outcome.FAILS: "NOT PROVED: what the file promises. Do not rely on it.",
    Outcome.UNDECIDED: "What the file promises was proved for distances that the file states. Nothing confirms "
    "these distances: do not rely on them.",
}
_LIMITS = {
    Outcome.HOLDS: "Every linear constraint of the file was proved anew, too.",
    Outcome.FAILS: "NOT PROVED: the linear constraints of the file. Do not rely on them.",
}


@final
@dataclass(frozen=True, slots=True, repr=False)
class ProvedPromises(CompactRepr):
    """The promises of a mechanism file, proved anew.

    Attributes:
        summary: What was proved, in words.
        outcome: ``FAILS`` where a promise is not proved or is about no pair, ``UNDECIDED`` where one is proved
            only for distances that nothing confirms; None where the file promises nothing.
        limits: ``FAILS`` where a linear constraint is not proved, else ``HOLDS``; None where there is none.
    """

    summary: Summary
    outcome: Outcome | None
    limits: Outcome | None = None

    @property
    def worst(self) -> Outcome | None:
        """The worse of the two outcomes; None where the file asks for nothing."""
        both = (self.outcome, self.limits)
        return next((each for each in (Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS) if each in both), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The outcomes in sentences."""
        nothing = "The file promises nothing." if self.limits is None else "The file promises no privacy."
        promised = nothing if self.outcome is None else _PROOFS[self.outcome]
        return (promised, *(() if self.limits is None else (_LIMITS[self.limits],)))


def audit_page(
    found: Audit,
    verdicts: Sequence[Verdict],
    *,
    promises: ProvedPromises | None = None,
    file: FileFacts | None = None,
) -> Page:
    """Return the page of an audit.

    Args:
        found: What was measured.
        verdicts: The requirements that it was held against.
        promises: What was proved of a file's promises; None without a mechanism file.
        file: The file that was audited, and the command; None leaves them out.
    """
    fails = any(verdict.outcome is Outcome.FAILS for verdict in verdicts)
    lead = framed(
        [(each.requirement.text, each.outcome) for each in verdicts],
        promises.sentences if promises is not None else (),
    )
    sections = []
    if promises is not None:
        sections += [PageSection(each.title, tuple(each.sentences)) for each in promises.summary.sections]
    if verdicts:
        items = (f"{each.requirement.text}: {each.outcome.value.upper()}: {each.reason}" for each in verdicts)
        sections.append(PageSection("Requirements", items=tuple(items)))
    sections.append(notion_sections(notions_of(found), found.notes))
    if file is not None:
        sections.append(file_section(file))
    broken = promises is not None and promises.worst in (Outcome.FAILS, Outcome.UNDECIDED)
    audited = f"Audited: {found.subject}. The audit does not use how it was made."
    return Page("Audit", (*lead, audited), tuple(sections), warning=fails or broken)
