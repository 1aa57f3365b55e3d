"""Relations, properties and errata, as text of a page in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sfumato.rounding import about

from .errata import ErratumRow
from .properties import YES, PropertyRow
from .summary import RelationSummary


def relation_table(found: Sequence[RelationSummary]) -> str:
    """Return the relations: what was tried, what failed, how tight they are, and the channel that tells."""
    lines = [
        "| relation | channels | violations | found / allowed: mean; most | on a known channel | its rows |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for each in found:
        mark = "" if each.published else " *"
        lines.append(
            f"| **{each.relation}**{mark}: {each.says} | {each.instances} | {each.violations} | "
            f"{_share(each)} | {_number(each.known_found)} / {_number(each.known_allowed)} | "
            f"{each.known_channel.replace('|', '')} |"
        )
    return "\n".join(lines) + "\n"


def _share(each: RelationSummary) -> str:
    if each.fails:
        return "fails"
    mean = each.mean_share
    interval = f"({about(mean.lower, 3)} to {about(mean.upper, 3)})"
    return f"{about(mean.value, 3)} {interval}; {about(each.tightness, 3)}"


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else about(value, 3)


def property_table(rows: Sequence[PropertyRow]) -> str:
    """Return the properties: the word of the table, ours, and the evidence."""
    lines = ["| definition | property | in the table | here | evidence |", "|---|---|---|---|---|"]
    for row in rows:
        if row.here == YES:
            evidence = f"{row.violations} violations in {row.instances} pairs of channels; {row.why}"
        else:
            evidence = f"from {_number(row.before or 0.0)} to {_number(row.after or 0.0)}: {row.why}"
        lines.append(f"| {row.definition} | {row.property} | {row.table} | {row.here} | {evidence} |")
    return "\n".join(lines) + "\n"


def erratum_words(rows: Sequence[ErratumRow]) -> str:
    """Return the errata as a list."""
    lines = [
        f"- **{row.where}.** {row.printed} Printed: \u201c{row.quote}\u201d. Right: {row.right} For "
        f"{row.instance}, {row.what} is {_number(row.found)}; the print gives {_number(row.by_print)}."
        for row in rows
    ]
    return "\n".join(lines) + "\n"
