"""Relations, properties and errata, as text of a page in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sfumato.rounding import about

from .errata import ErratumRow
from .properties import OPEN, YES, PropertyRow
from .summary import RelationSummary


def relation_table(found: Sequence[RelationSummary]) -> str:
    """Return the relations in Markdown, with their violations, tightness and known channels."""
    lines = [
        "| relation | violations | found / allowed: mean; most | known channel: found / allowed |",
        "|---|--:|--:|--:|",
    ]
    for each in found:
        mark = "" if each.published else " *"
        lines.append(
            f"| **{each.relation}**{mark}: {each.says} | {each.violations} of {each.instances} | "
            f"{_share(each)} | {_number(each.known_found)} / {_number(each.known_allowed)} |"
        )
    return "\n".join(lines) + "\n"


def _share(each: RelationSummary) -> str:
    if each.fails:
        return "fails"
    return f"{about(each.mean_share.value, 3)}; {about(each.tightness, 3)}"


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else about(value, 3)


def property_table(rows: Sequence[PropertyRow]) -> str:
    """Return the properties in Markdown: one row per definition, then the evidence, each reason once.

    An answer in bold stands where the table of the thesis has a question mark.
    """
    properties = list(dict.fromkeys(row.property for row in rows))
    answers: dict[str, dict[str, str]] = {}
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        answers.setdefault(row.definition, {})[row.property] = f"**{row.here}**" if row.table == OPEN else row.here
        values = "" if row.here == YES else f" (from {_number(row.before or 0.0)} to {_number(row.after or 0.0)})"
        why = f"{row.here}: {row.why}"
        reasons.setdefault(why, {}).setdefault(row.property, []).append(f"{row.definition}{values}")
    lines = [f"| definition | {' | '.join(properties)} |", f"|---|{'---|' * len(properties)}"]
    lines += [f"| {name} | {' | '.join(own[each] for each in properties)} |" for name, own in answers.items()]
    lines.append("")
    for why, own in reasons.items():
        where: dict[str, list[str]] = {}
        for name, definitions in own.items():
            where.setdefault(", ".join(definitions), []).append(name)
        about_whom = "; ".join(f"{' and '.join(names)} of {which}" for which, names in where.items())
        lines.append(f"- {about_whom[0].upper()}{about_whom[1:]}: {why}.")
    return "\n".join(lines) + "\n"


def erratum_words(rows: Sequence[ErratumRow]) -> str:
    """Return the errata as a list."""
    lines = [
        f"- **{row.where}.** Printed: \u201c{row.quote}\u201d. Right: {row.right} Example: "
        f"for {row.instance}, {row.what} is {_number(row.found)}; the print gives {_number(row.by_print)}."
        for row in rows
    ]
    return "\n".join(lines) + "\n"
