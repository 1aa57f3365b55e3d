"""``sfumato design --sweep``: the frontier over epsilons, distortions and users."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError, MissingExtraError
from .console import PARTIAL, StopOnInterrupt, note, say
from .wording import option

if TYPE_CHECKING:
    from ..core import Metric, Prior
    from ..optimal import Design, Point
    from .screen import Screen

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


def _positive(values: list[float], text: str) -> list[float]:
    if not min(values) > 0:
        raise InputError(f"{text!r} holds {min(values):g}, and every value must be above 0.", "begin higher.")
    return values


def run_sweep(
    priors: dict[str, Prior],
    costs: Metric,
    distances: Metric,
    epsilons: str | None,
    distortions: str | None,
    target: Path,
    *,
    objective: str,
    gap: float | None,
    time_limit: float,
    picture: bool,
) -> None:
    """Run a sweep, print its table, and write it with its figure beside ``target``."""
    from ..optimal import sweep
    from ..report import save_picture, save_rows
    from ..report.frontier import frontier
    from .screen import Screen

    unit = distances.unit
    with option("--sweep"):
        asked = (
            [None] if epsilons is None else _positive(amounts(epsilons, unit, per=True, what="epsilon"), epsilons)
        )
    with option("--sweep-distortions"):
        least = []
        if distortions is not None:
            least = _positive(amounts(distortions, unit, per=False, what="the distortion"), distortions)
    progress = Screen(stderr=True)
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
    _print(Screen(), points, unit, ties=costs.name != distances.name)
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
    if any(point.design is None or not point.design.finished for point in points):
        raise typer.Exit(PARTIAL)


def _print(console: Screen, points: list[Point], unit: str, *, ties: bool) -> None:
    from ..core.units import per_unit
    from ..rounding import amount_at_least, amount_at_most, at_most, gap_at_most, percent_at_most
    from .tables import print_table

    headings = (
        "prior",
        f"epsilon{per_unit(unit)}",
        "distortion asked",
        "loss",
        "gap",
        "attacker errs by",
        "finds the secret",
        "seconds",
    )
    rows = []
    for point in points:
        epsilon = "" if point.epsilon is None else at_most(point.epsilon, 6)
        minimum = "" if point.minimum is None else amount_at_least(point.minimum, unit)
        if point.design is None:
            rows.append((point.who, epsilon, minimum, "none", "", "", "", ""))
            continue
        c = point.design.certificate
        loss = percent_at_most(c.value) if not c.loss_unit else amount_at_most(c.value, c.loss_unit)
        errs, hits = amount_at_least(point.distortion, unit), percent_at_most(point.hit_rate)
        rows.append(
            (point.who, epsilon, minimum, loss, gap_at_most(c.gap), errs, hits, f"{point.design.seconds:.1f}")
        )
    print_table(console, "Frontier", headings, rows)
    for failure in sorted({f"{point.who}: {point.failure}" for point in points if point.design is None}):
        console.print(f"None for {failure}")
    short = [point.design for point in points if point.design is not None and not point.design.finished]
    if short:
        reasons = ", ".join(sorted({design.status.value for design in short}))
        console.print(f"NOT FINISHED: {len(short)} of {len(points)} designs ({reasons}).")
    if ties:  # where loss and the attacker's error are the same distance, equal loss is equal privacy
        for sentence in _ties([point.design for point in points if point.design is not None]):
            console.print(sentence)


def _ties(designs: list[Design]) -> list[str]:
    """Say which of several mechanisms of equal loss were taken."""
    from ..rounding import gap_at_most

    broken = [design.tie_gap for design in designs if design.tie_gap is not None]
    left = len(designs) - len(broken)
    said = []
    if broken:
        said.append(
            f"In {len(broken)} of {len(designs)} designs, among mechanisms of equal loss, one of most distortion "
            f"privacy was taken (within {gap_at_most(max(broken))} of the most)."
        )
    if left:
        said.append(
            f"In {left} of {len(designs)} designs no tie was broken: mechanisms of equal loss may differ in "
            "what an attacker achieves."
        )
    return said
