"""Tables of the study in Markdown, for the page of the docs."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.core import Bracket

from .contest import ContestRow
from .generators import GridRow
from .summary import of, over_field, values
from .vocabulary import TEST, TRAIN


def square_table(rows: Sequence[GridRow], hits: int) -> str:
    """Return the errors of Experiments 1 and 2, means over seeds and half widths of their intervals.

    Args:
        rows: Rows of Experiments 1 and 2.
        hits: How many reports of each record.
    """
    cells = sorted(values(rows, "cell_m"), reverse=True)
    heads = [f"{TRAIN}, {cells[-1]:g} m", *(f"{TEST}, {cell:g} m" for cell in cells)]
    lines = [f"| mechanism | {' | '.join(heads)} | mean distance |", "|---|" + "--:|" * (len(heads) + 1)]
    for experiment in values(rows, "experiment"):
        for name in values(rows, "generator"):
            mine = of(rows, experiment=experiment, generator=name, hits=hits)
            shown = [(TRAIN, cells[-1]), *((TEST, cell) for cell in cells)]
            errors = [_short(over_field(of(mine, part=part, cell_m=cell), "error")) for part, cell in shown]
            test = of(mine, part=TEST)
            loss = sum(row.loss_m for row in test) / len(test)
            lines.append(f"| {experiment}: {name} | {' | '.join(errors)} | {loss:.1f} m |")
    return "\n".join(lines) + "\n"


def people_table(rows: Sequence[ContestRow], names: Sequence[str]) -> str:
    """Return a line for each case: the errors of some mechanisms, of a blind guess, and of the last two held out.

    Args:
        rows: Rows of contests.
        names: The mechanisms.
    """
    later = names[-2:]
    heads = [*names, "blind guess", *(f"held out: {name}" for name in later)]
    lines = [f"| label, limit | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for source, hidden, limit in dict.fromkeys((row.source, row.hidden, row.max_loss_m) for row in rows):
        case = of(rows, source=source, hidden=hidden, max_loss_m=limit)
        found = [over_field(of(case, mechanism=name), "error") for name in names]
        found.append(over_field(case, "blind_error"))
        found += [over_field(of(case, mechanism=name), "held_out_error") for name in later]
        lines.append(f"| {source}: {hidden}, {limit:,.0f} m | {' | '.join(map(_short, found))} |")
    return "\n".join(lines) + "\n"


def _short(found: Bracket) -> str:
    half = max(found.upper - found.value, found.value - found.lower)
    return f"{found.value:.3f}" if half < 5e-4 else f"{found.value:.3f} ± {half:.3f}"
