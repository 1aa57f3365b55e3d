"""``sfumato design --sweep``: the frontier over epsilons, distortions and users."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError, MissingExtraError
from .console import PARTIAL, StopOnInterrupt, note, say

if TYPE_CHECKING:
    from ..core import Metric, Prior
    from ..optimal import Point

_RANGE = re.compile(r"\s*([0-9.eE+-]+)\s*\.\.\s*([0-9.eE+-]+)\s*(.*?)\s*:\s*(\d+)\s*")


def amounts(text: str, unit: str, *, per: bool, what: str) -> list[float]:
    """Read ``"0.15/km, 0.3/km"`` or ``"0.15..0.9/km:6"`` (so many equal steps)."""
    from ..core import units

    match = _RANGE.fullmatch(text)
    if match is None:
        return [units.parse(part.strip(), per=per, unit=unit, what=what) for part in text.split(",")]
    low, high = (units.parse(match[k] + match[3], per=per, unit=unit, what=what) for k in (1, 2))
    steps = int(match[4])
    if steps < 2 or not low < high:
        raise InputError(f"the range {text!r} is empty.", "write low..high/unit:steps, such as '0.15..0.9/km:6'.")
    return [low + (high - low) * k / (steps - 1) for k in range(steps)]


def run_sweep(
    priors: dict[str, Prior],
    costs: Metric,
    distances: Metric,
    epsilons: str | None,
    distortions: str | None,
    target: Path,
    *,
    objective: str,
    gap: float,
    time_limit: float,
    picture: bool,
) -> None:
    """Run a sweep, print its table, and write it with its figure beside ``target``."""
    from rich.table import Table

    from ..core.units import per_unit
    from ..optimal import Status, sweep
    from ..report import save_picture, save_rows
    from ..report.frontier import frontier
    from ..rounding import amount, gap_at_most, percent
    from .screen import Screen

    unit = distances.unit
    asked = amounts(epsilons, unit, per=True, what="epsilon") if epsilons else [None]
    least = amounts(distortions, unit, per=False, what="the distortion") if distortions else []
    console, progress = Screen(), Screen(stderr=True)
    with StopOnInterrupt() as stop, progress.status("Sweeping (Ctrl-C stops after the running design)") as status:

        def report(point: Point) -> None:
            status.update(f"{point.who}, epsilon {point.epsilon}: done")

        points = sweep(
            priors,
            loss=costs,
            metric=distances,
            epsilons=asked,
            distortions=[None, *least] if epsilons else least,
            objective=objective,
            gap=gap,
            time_limit=time_limit,
            stop=stop,
            report=report,
        )
    headings = (
        "prior",
        f"epsilon{per_unit(unit)}",
        "distortion asked",
        "loss",
        "gap",
        "attacker errs by",
        "seconds",
    )
    table = Table(title="Frontier", title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "prior" else "right")
    failures: set[str] = set()
    for point in points:
        epsilon = "" if point.epsilon is None else f"{point.epsilon:g}"
        minimum = "" if point.minimum is None else amount(point.minimum, unit)
        if point.design is None:
            table.add_row(point.who, epsilon, minimum, "none", "", "", "")
            failures.add(f"{point.who}: {point.failure}")
            continue
        c = point.design.certificate
        loss = percent(c.value) if not c.loss_unit else amount(c.value, c.loss_unit)
        errs = amount(point.distortion, unit)
        table.add_row(point.who, epsilon, minimum, loss, gap_at_most(c.gap), errs, f"{point.design.seconds:.1f}")
    console.print(table)
    for failure in sorted(failures):
        console.print(f"None for {failure}")
    rows = target.with_suffix(".csv")
    save_rows(points, rows)
    written = [rows]
    if picture and any(point.design is not None for point in points):
        try:
            save_picture(frontier(points, unit), target.with_suffix(".png"))
            written.append(target.with_suffix(".png"))
        except MissingExtraError as error:
            note(error, "no figure was drawn.")
    say(f"Written: {', '.join(map(str, written))}")
    if any(point.design is None or point.design.status is not Status.OPTIMAL for point in points):
        raise typer.Exit(PARTIAL)
