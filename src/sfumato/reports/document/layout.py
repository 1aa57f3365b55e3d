"""Order of the sections of a report and of the page of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from ...audits import Audit, Outcome, Verdict
from ...core.immutable import CompactRepr
from ...files import MechanismFile
from .. import sentences as words
from ..facts import (
    AttackFacts,
    FileFacts,
    NotionFacts,
    Overview,
    PromiseFacts,
    ReportFacts,
    all_hold,
    notions_of,
    of_file,
    of_noise,
)
from ..summary import Summary, audit_summary, summarise_noise
from .figures import atlas_figure, frontier_figures
from .page import Page, PageFigure, PageSection, PageTable

_REVIEW_TITLE: Final = "Answers to the questions of NIST SP 800-226 and of the registry of deployments."
_LAWS: Final = "Laws of several US states treat a location that is known to within 1,750 or 1,850 ft as sensitive."
_LITERATE: Final = (
    "This part is for readers who know the literature; nothing above needs it. The drawing shows the notions of "
    "privacy that apply to this mechanism.",
)


def report_page(facts: ReportFacts, maps: Sequence[PageFigure]) -> Page:
    """Return the page of a report: a cover to sign, four sheets at most, and an appendix."""
    fails = any(outcome is Outcome.FAILS for _, outcome in facts.outcomes)
    demands = tuple(
        words.requirement_words(requirement.text, requirement.outcome, requirement.reason)
        for requirement in facts.requirements
    )
    name = f": {facts.file.name}" if facts.file.name else ""
    return Page(
        f"Privacy report{name}",
        words.first_words(words.lead_words(facts)),
        tuple(_sections(facts, maps, demands)),
        _cover(facts, demands),
        warning=fails or not facts.holds or not (facts.promises or facts.tuples),
    )


def _sections(facts: ReportFacts, maps: Sequence[PageFigure], demands: tuple[str, ...]) -> Iterator[PageSection]:
    subject, several, attacks, constraints = facts.subject, len(facts.promises), facts.attacks, facts.constraints
    yield PageSection("What is protected", words.subject_words(subject), figures=tuple(maps))
    for number, promise in enumerate(facts.promises, 1):
        yield _promise(promise, facts, f"Guarantee {number} of {several}" if several > 1 else "The guarantee")
    if not facts.promises and facts.tuples is None:
        remark = words.no_guarantee_words(constraints=bool(constraints))
        yield PageSection("The guarantee", (remark,), warning=True)
    if facts.tuples is not None:
        sentences = words.tuple_words(facts.tuples, subject)
        yield PageSection("Reports among dummies", sentences, warning=not facts.tuples.holds)
    if constraints:
        items, warning = tuple(map(words.constraint_item, constraints)), not all_hold(constraints)
        yield PageSection("Linear constraints", words.constraint_words(constraints), items=items, warning=warning)
    if len(demands) > words.MOST_SENTENCES:
        yield PageSection("What was required", items=demands)
    costs = _accuracy(facts)
    if facts.cost.best is not None:
        by, counts = ", by the prior and the loss of the file", (several, len(constraints))
        proof = "The file holds the numbers that prove this. They were verified when this report was written."
        costs = (*costs, words.optimum_words(facts.cost, subject, *counts, by), proof)
    yield PageSection("What it costs", costs)
    risks = dict.fromkeys(sentence for risk in facts.risks for sentence in words.risk_words(risk, subject))
    yield PageSection("How near an attacker comes", (*([_LAWS] if subject.region else []), *risks))
    table = PageTable("Attackers side by side.", *words.attack_rows(attacks, subject))
    sentences = (*_attackers(facts, attacks), words.simulation_words(facts.attacks_left_out))
    yield PageSection("What attackers find", sentences, tables=(table,) if attacks else ())
    answers = PageTable(_REVIEW_TITLE, (), tuple(words.review_words(facts).items()))
    yield PageSection("What reviewers ask", tables=(answers,))
    title = "What more or less privacy would cost"
    tables = (PageTable(*words.frontier_table(facts)),) if facts.frontier else ()
    figures = frontier_figures(facts)
    yield PageSection(title, words.frontier_words(facts), tables=tables, figures=figures, appendix=True)
    yield replace(notion_sections(facts.notions, facts.notes, _LITERATE), appendix=True)
    yield replace(file_section(facts.file, facts.remarks), appendix=True)


def _attackers(facts: ReportFacts, attacks: Sequence[AttackFacts]) -> tuple[str, ...]:
    sentences = words.attack_words(attacks, facts.subject, even=facts.prior.even)
    return sentences or (words.no_attack_words(facts.subject),)


def _cover(facts: ReportFacts, demands: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    subject, file = facts.subject, facts.file
    limits = (*(" ".join(words.risk_words(risk, subject)) for risk in facts.risks if risk.text), *demands)
    promises = [words.odds_words(promise, subject) for promise in facts.promises]
    if facts.tuples is not None:
        promises += facts.tuples.proofs
    guarantees = words.first_words(promises) or (words.no_guarantee_words(constraints=bool(facts.constraints)),)
    rows = {
        "Protected": words.protected_words(subject),
        "Stated limits": words.first_words(limits) or ("No limit was stated.",),
        "Guarantee": (*guarantees, *words.first_words(tuple(map(words.constraint_item, facts.constraints)))),
        "Cost": _accuracy(facts),
        "Best attacker": _attackers(facts, [attack for attack in facts.attacks if attack.reports < 2]),
        "Not protected": words.limit_words(facts),
        "Verified": (words.verified_words(facts),),
        "File": (f"{file.name}, {file.bytes:,} bytes", f"SHA-256: {file.sha256}") if file.name else (),
    }
    return tuple((heading, sentences) for heading, sentences in rows.items() if sentences)


def notion_sections(notions: Sequence[NotionFacts], notes: Sequence[str], lead: Sequence[str] = ()) -> PageSection:
    """Return the atlas, a table and explanations of an audit; with a lead, table and notes are behind a fold."""
    tables = (PageTable("What was measured.", *words.notion_rows(notions)),) if notions else ()
    formal = tuple(f"{words.notion_words(notion)} {notion.source}." for notion in notions if notion.sentence)
    title, figures = "Every notion of privacy that applies", (atlas_figure(notions),) if notions else ()
    if lead and notions:
        fold = "The numbers, what each means, where it is attained, and its source"
        both = (*notes, *formal)
        return PageSection(title, tuple(lead), figures=figures, formal=both, folded=tables, fold=fold)
    fold = "What each number means, where it is attained, and its source"
    return PageSection(title, tuple(notes), figures=figures, tables=tables, formal=formal, fold=fold)


def _promise(promise: PromiseFacts, facts: ReportFacts, title: str) -> PageSection:
    rows, several = words.belief_rows(promise), words.nouns_of(facts.subject)[1]
    reports = [belief.reports for belief in promise.beliefs if belief.distance == promise.beliefs[0].distance]
    after = (f"after {count} fresh reports" if count > 1 else "after one report" for count in reports)
    headings = (f"how far apart the two {several} are", *after)
    table = PageTable(words.belief_caption(promise, facts.subject), headings, rows)
    return PageSection(
        title,
        words.promise_words(promise, facts.subject),
        tables=(table,) if rows else (),
        formal=words.formal_words(promise, facts.subject),
        warning=not promise.holds,
    )


def _accuracy(facts: ReportFacts) -> tuple[str, ...]:
    most = (*words.likely_words(facts.report_error), *words.spread_words(facts.radius))
    unknown = (words.NO_RADIUS,) if facts.subject.region and not most else ()
    average = facts.cost.expected is not None and facts.cost.kind != "true point"
    prior = (words.PRIOR_OF_AVERAGE,) if average and not facts.visits else ()
    return (*words.cost_words(facts.cost, facts.subject), *prior, *most, *unknown)


def file_section(file: FileFacts, remarks: Sequence[str] = ()) -> PageSection:
    """Return the file of a page, and how to make the page again."""
    rows = [
        ("Mechanism file", f"{file.name}, {file.bytes:,} bytes") if file.name else None,
        ("SHA-256 of the file", file.sha256) if file.sha256 else None,
        ("Mark on tables of its reports", file.mark) if file.mark else None,
        ("Written", f"{file.written} by sfumato {file.version}"),
        ("Command", file.command) if file.command else None,
    ]
    table = PageTable("The file, and how to make this page again.", (), tuple(row for row in rows if row))
    return PageSection(
        "How this was made", (*remarks, *words.file_words(file)), tables=(table,), script=file.script
    )


@dataclass(frozen=True, slots=True, repr=False)
class ProvedPromises(CompactRepr):
    """Proofs of the guarantees and linear constraints of a mechanism file."""

    facts: Overview
    summary: Summary

    @classmethod
    def of(cls, file: MechanismFile) -> Self:
        """Prove the guarantees and the linear constraints of a file."""
        if not file.has_matrix:
            return cls(of_noise(file), summarise_noise(file))
        facts = of_file(file)
        return cls(facts, audit_summary(file, facts))

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of a guarantee: it fails about no pair, and is undecided for unconfirmed distances."""
        if not self.facts.promises or all_hold(self.facts.promises):
            return Outcome.HOLDS if self.facts.promises else None
        return Outcome.UNDECIDED if all(promise.is_proved for promise in self.facts.promises) else Outcome.FAILS

    @property
    def limits(self) -> Outcome | None:
        """The worst outcome of a linear constraint."""
        limits = self.facts.constraints
        return None if not limits else Outcome.HOLDS if all_hold(limits) else Outcome.FAILS

    @property
    def worst(self) -> Outcome | None:
        """The worse of the two outcomes; None where the file asks for nothing."""
        both = (self.outcome, self.limits)
        return next((case for case in (Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS) if case in both), None)


def audit_page(
    audit: Audit,
    verdicts: Sequence[Verdict],
    *,
    promises: ProvedPromises | None = None,
    file: FileFacts | None = None,
) -> Page:
    """Return the page of an audit."""
    fails = any(verdict.outcome is Outcome.FAILS for verdict in verdicts)
    lead = words.verdict_words(
        [(verdict.requirement.text, verdict.outcome) for verdict in verdicts],
        () if promises is None else words.state_words(*promises.facts[:3]),
    )
    parts = () if promises is None else promises.summary.sections
    sections = [PageSection(part.title, part.sentences) for part in parts]
    if verdicts:
        items = (words.requirement_words(case.requirement.text, case.outcome, case.reason) for case in verdicts)
        sections.append(PageSection("Requirements", items=tuple(items)))
    sections.append(notion_sections(notions_of(audit), audit.notes))
    if file is not None:
        sections.append(file_section(file))
    doubt = promises is not None and promises.worst in (Outcome.FAILS, Outcome.UNDECIDED)
    audited = f"Audited: {audit.subject}. The audit does not use how it was made."
    return Page("Audit", (*lead, audited), tuple(sections), warning=fails or doubt)
