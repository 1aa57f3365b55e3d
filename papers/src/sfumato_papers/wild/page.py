"""Schemes, statements and errors as Markdown of the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from sfumato.rounding import at_most

from ..reproduction import Judgement, PaperClaim
from .attack_errors import ALONE, AS_DOCUMENTED, FRESH, KNOWS, REMEMBERED, REPORTS, CloseRow, metres, shares
from .schemes import SCHEMES

_Found = Mapping[tuple[str, int], CloseRow]


def scheme_words() -> str:
    """Return the facts, models, guarantees and gaps of all schemes, those with the same facts in one section."""
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
    """Return statements by kind: published ones, ours, those by construction, and those not checkable."""
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


def close_table(rows: Sequence[CloseRow]) -> str:
    """Return median errors of attackers with the reports alone, by scheme, and of certified noise."""

    def cells(found: _Found) -> list[str]:
        own = [found[AS_DOCUMENTED, count] for count in REPORTS]
        own += [found[name, REPORTS[-1]] for name in (REMEMBERED, FRESH)]
        return [metres(row.median_m) for row in own]

    heads = [*(f"after {count}" for count in REPORTS), "certified, remembered", "certified, fresh, after 100"]
    return _table(rows, ALONE, heads, cells, unlinked=(1, 2, 4))


def near_table(rows: Sequence[CloseRow]) -> str:
    """Return the shares found within 100 m by attackers who know where people go, by scheme."""

    def cells(found: _Found) -> list[str]:
        first, last = (found[AS_DOCUMENTED, count] for count in (REPORTS[0], REPORTS[-1]))
        kept = found[REMEMBERED, REPORTS[-1]]
        near = [shares(row.near) for row in (first, last, kept)]
        return [*near, f"{metres(first.loss_m)}, {metres(kept.loss_m)}", at_most(kept.epsilon_per_km, 3)]

    heads = ["after 1", "after 100", "certified, remembered", "moved: scheme, certified", "its epsilon per km"]
    return _table(rows, KNOWS, heads, cells, unlinked=(1,))


def _table(
    rows: Sequence[CloseRow],
    attacker: str,
    heads: Sequence[str],
    cells: Callable[[_Found], list[str]],
    unlinked: Sequence[int],
) -> str:
    """Return a table of schemes; columns of many reports are empty where reports are not linked."""
    lines = [f"| scheme | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for each in SCHEMES:
        found = {
            (row.mechanism, row.reports): row for row in rows if (row.scheme, row.attacker) == (each.key, attacker)
        }
        if found:
            own = cells(found)
            if not each.linked:
                own = ["–" if place in unlinked else cell for place, cell in enumerate(own)]
            lines.append(f"| {each.title} | {' | '.join(own)} |")
    return "\n".join(lines) + "\n"
