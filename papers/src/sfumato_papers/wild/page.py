"""Schemes and errors as Markdown of the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from sfumato.rounding import at_most

from ..results import markdown_table, where
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


def close_table(rows: Sequence[CloseRow]) -> str:
    """Return median errors of attackers with the reports alone, by scheme, and of certified noise."""
    heads = [*(f"after {count}" for count in REPORTS), "certified, remembered", "certified, fresh, after 100"]
    shown = [
        *((AS_DOCUMENTED, count) for count in REPORTS),
        *((name, REPORTS[-1]) for name in (REMEMBERED, FRESH)),
    ]
    return _table(
        rows, ALONE, heads, lambda found: [metres(found[each].median_m.value) for each in shown], (1, 2, 4)
    )


def near_table(rows: Sequence[CloseRow]) -> str:
    """Return the shares found within 100 m by attackers who know where people go, by scheme."""

    def cells(found: _Found) -> list[str]:
        first, last, kept = found[AS_DOCUMENTED, 1], found[AS_DOCUMENTED, 100], found[REMEMBERED, 100]
        near = [shares(row.within_100) for row in (first, last, kept)]
        return [*near, f"{metres(first.loss_m)}, {metres(kept.loss_m)}", at_most(kept.epsilon_per_km, 3)]

    heads = ["after 1", "after 100", "certified, remembered", "moved: scheme, certified", "its epsilon per km"]
    return _table(rows, KNOWS, heads, cells, (1,))


def _table(
    rows: Sequence[CloseRow],
    attacker: str,
    heads: Sequence[str],
    cells: Callable[[_Found], list[str]],
    unlinked: Sequence[int],
) -> str:
    """Return a table of schemes; columns of many reports are empty where reports are not linked."""
    lines = []
    for each in SCHEMES:
        found = {(row.mechanism, row.reports): row for row in where(rows, scheme=each.key, attacker=attacker)}
        if found:
            dashed = () if each.linked else unlinked
            own = ["–" if place in dashed else cell for place, cell in enumerate(cells(found))]
            lines.append([each.title, *own])
    return markdown_table(f"| scheme | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}", lines)
