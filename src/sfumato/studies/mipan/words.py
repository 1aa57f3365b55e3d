"""Tables of the study in Markdown, for the page of the docs."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import Bracket
from .contest import ContestRow
from .generators import GridRow
from .summary import of, over_field, values
from .vocabulary import TEST, TRAIN


def square_table(rows: Sequence[GridRow], hits: int) -> str:
    """Return the errors of Experiments 1 and 2 by grid, means over seeds and half widths of their intervals.

    Args:
        rows: Rows of Experiments 1 and 2.
        hits: How many reports of each record.
    """
    cells = sorted(values(rows, "cell_m"), reverse=True)
    heads = [f"{cell:g} m" for cell in cells]
    lines = [f"| experiment, part | mechanism | {' | '.join(heads)} | mean distance |", "|---|---|" + "--:|" * 5]
    for experiment in values(rows, "experiment"):
        for part in (TRAIN, TEST):
            for name in values(rows, "generator"):
                mine = of(rows, experiment=experiment, part=part, generator=name, hits=hits)
                errors = [_short(over_field(of(mine, cell_m=cell), "error")) for cell in cells]
                loss = sum(row.loss_m for row in mine) / len(mine)
                lines.append(f"| {experiment}, {part} | {name} | {' | '.join(errors)} | {loss:.1f} m |")
    return "\n".join(lines) + "\n"


def people_table(rows: Sequence[ContestRow]) -> str:
    """Return the errors that mechanisms leave for users and homes, means over splits and half widths.

    Args:
        rows: Rows of contests.
    """
    lines = [
        "| label, limit | mechanism | error | loss | held out, strongest attacker | held-out loss |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for source, hidden, limit in dict.fromkeys((row.source, row.hidden, row.max_loss_m) for row in rows):
        case = of(rows, source=source, hidden=hidden, max_loss_m=limit)
        for name in values(case, "mechanism"):
            mine = of(case, mechanism=name)
            known, fresh = over_field(mine, "error"), over_field(mine, "held_out_error")
            lost = sum(row.loss_m for row in mine) / len(mine)
            later = sum(row.held_out_loss_m for row in mine) / len(mine)
            lines.append(
                f"| {source}: {hidden}, {limit:,.0f} m | {name} | {_short(known)} | {lost:,.0f} m "
                f"| {_short(fresh)} | {later:,.0f} m |"
            )
        blind = over_field(case, "blind_error")
        lines.append(f"| {source}: {hidden}, {limit:,.0f} m | blind guess | {_short(blind)} | | | |")
    return "\n".join(lines) + "\n"


def _short(found: Bracket) -> str:
    half = max(found.upper - found.value, found.value - found.lower)
    return f"{found.value:.3f}" if half < 5e-4 else f"{found.value:.3f} ± {half:.3f}"
