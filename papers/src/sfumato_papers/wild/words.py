"""The schemes and what was found, as text of a page: facts with sources, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from sfumato.rounding import at_most

from ..reproduction import Judgement, PaperClaim
from .schemes import SCHEMES
from .summary import CloseRow, metres, shares
from .vocabulary import ALONE, AS_DOCUMENTED, FRESH, KNOWS, REMEMBERED, REPORTS


def scheme_words() -> str:
    """Return all schemes in Markdown: facts with their sources, model, guarantee, and what is not known.

    Schemes with the same facts share a section.
    """
    sections = []
    for facts, group in groupby(SCHEMES, key=lambda each: each.facts):
        schemes = list(group)
        said: dict[str, list[str]] = {}
        for fact in facts:
            said.setdefault(f"{fact.source}, {fact.read}", []).append(fact.says)
        lines = [f"## {schemes[0].who}", ""]
        lines += [f"- {' '.join(each)} ({source})" for source, each in said.items()]
        lines += [
            f"- **Model:** {_joined(each.model for each in schemes)}",
            f"- **Guarantee:** {_joined(each.promise for each in schemes)}",
            f"- **Not known:** {_joined(says for each in schemes for says in each.unknown)}",
        ]
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(sentences))


def claim_words(claims: Sequence[PaperClaim]) -> str:
    """Return statements in Markdown: published ones, ours, those by construction, and those not checkable.

    Args:
        claims: The statements, judged.
    """
    verdicts = {
        Judgement.CONFIRMED: "*Agrees.* ",
        Judgement.REFUTED: "*Does not agree.* ",
        Judgement.UNCONFIRMED: "*Not confirmed.* ",
    }
    heads: dict[str, list[str]] = {
        "Published statements and makers' comments": [],
        "Our own statements": [],
        "By construction": [],
        "Not checkable here": [],
    }
    published, own, built, lost = heads.values()
    for each in claims:
        lines = {Judgement.FOLLOWS: built, Judgement.OPEN: lost}.get(each.verdict, own if each.ours else published)
        where = f"{each.where}, ours" if each.ours and lines is built else each.where
        lines.append(f"- **{where}.** {each.says} {verdicts.get(each.verdict, '')}{each.found}")
    return "\n".join("\n".join([f"### {head}", "", *lines]) + "\n" for head, lines in heads.items())


def close_table(rows: Sequence[CloseRow], attacker: str = ALONE) -> str:
    """Return median errors by scheme, and of certified noise, in Markdown.

    Args:
        rows: Means over runs.
        attacker: What the attacker knows.
    """
    found = {(row.scheme, row.mechanism, row.attacker, row.reports): row for row in rows}
    heads = [*(f"after {count}" for count in REPORTS), "certified, remembered", "certified, fresh, after 100"]
    lines = [f"| scheme | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for each in SCHEMES:
        if (each.key, AS_DOCUMENTED, attacker, REPORTS[0]) not in found:
            continue
        own = [found[each.key, AS_DOCUMENTED, attacker, count] for count in REPORTS]
        own += [found[each.key, name, attacker, REPORTS[-1]] for name in (REMEMBERED, FRESH)]
        cells = [metres(row.median_m) for row in own]
        if not each.linked:
            cells[1] = cells[2] = cells[4] = "–"
        lines.append(f"| {each.title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def near_table(rows: Sequence[CloseRow]) -> str:
    """Return the shares found within 100 m by an attacker who knows where people go, with intervals, in Markdown.

    Args:
        rows: Means over runs.
    """
    found = {(row.scheme, row.mechanism, row.attacker, row.reports): row for row in rows}
    heads = ["after 1", "after 100", "certified, remembered", "moved: scheme, certified", "its epsilon per km"]
    lines = [f"| scheme | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for each in SCHEMES:
        if (each.key, AS_DOCUMENTED, KNOWS, REPORTS[0]) not in found:
            continue
        first, last = (found[each.key, AS_DOCUMENTED, KNOWS, count] for count in (REPORTS[0], REPORTS[-1]))
        kept = found[each.key, REMEMBERED, KNOWS, REPORTS[-1]]
        cells = [shares(row.near) for row in (first, last, kept)]
        if not each.linked:
            cells[1] = "–"
        cells.append(f"{metres(first.loss_m)}, {metres(kept.loss_m)}")
        lines.append(f"| {each.title} | {' | '.join(cells)} | {at_most(kept.epsilon_per_km, 3)} |")
    return "\n".join(lines) + "\n"
