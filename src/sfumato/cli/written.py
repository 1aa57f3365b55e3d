"""A design as it is written and printed: the mechanism file, the report and the maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .best import loss_on, promise_of_points, with_best
from .messages import PARTIAL, say
from .outputs import draw
from .places import USUAL_CELLS

if TYPE_CHECKING:
    from ..geo import Visits
    from ..mechanisms.planar import CoordinateNoise
    from ..optimal import Design, NoiseDesign
    from ..report import Summary
    from .sites import Site


def write_design(
    result: Design,
    site: Site,
    visits: Visits,
    apart: Visits | None,
    source: str,
    target: Path,
    *,
    solver: str,
    picture: bool,
    bound_time: float = 0.0,
) -> None:
    """Write and print a design; exit with code 3 if its optimum was not reached.

    Args:
        result: The design.
        site: Where it was made.
        visits: The visits of its prior.
        apart: Visits that were held out; None for none.
        source: Where they come from, in words.
        target: The mechanism file; the report and the maps are beside it.
        solver: ``--solver``.
        picture: Whether maps are drawn.
        bound_time: Seconds for the best conceivable; 0 leaves it out.
    """
    from ..evidence import as_dict
    from ..files import MechanismFile, save
    from ..geo import Lattice
    from ..optimal import Status
    from ..report import picture as maps
    from ..report import summarise
    from ..rounding import counted

    problem = result.problem
    remarks = [*([site.said] if site.said else []), *site.search]
    reports = result.mechanism.observables
    if isinstance(site.places, Lattice) and reports != site.places:
        remarks.append(
            f"Reports are made at {counted(len(reports), 'place')}, the best for what they reveal of these "
            "visits. Some may be exactly where somebody was, and whoever sees reports or the file sees them. If "
            "the visits are the protected person's own, that is a second release, which the promise does not "
            "cover."
        )
    summary = summarise(result, site.distances, source=source, visits=visits, held_out=apart, remarks=remarks)
    claims = {"certificate": as_dict(result.certificate), "solver": result.solver, "status": result.status.name}
    held = MechanismFile(
        result.mechanism, problem.prior, problem.loss, problem.guarantees, claims, result.optimality
    )
    save(held, target)
    drawn: list[Path] = []
    promise = promise_of_points(result)
    if bound_time and promise is not None:
        summary = with_best(summary, promise, visits, loss_on(result.mechanism, visits), bound_time)
    _report(summary, target)
    if picture:
        drawn = draw(
            lambda: maps(result.mechanism, problem.prior, site.distances), target.with_suffix(".png"), "maps were"
        )
    _say(target, drawn)
    if not result.finished:
        if result.status is Status.INACCURATE:
            say(f"Hint: {_advice(result, solver)}.", err=True)
        raise typer.Exit(PARTIAL)


def write_noise(
    result: NoiseDesign,
    site: Site,
    visits: Visits,
    apart: Visits | None,
    source: str,
    target: Path,
    *,
    picture: bool,
    bound_time: float = 0.0,
) -> None:
    """Write and print planar noise that loses less than a program; see `write_design`.

    Args:
        result: The noise, with what it and the program lose.
        site: Where it was made.
        visits: The visits that its remap was made of.
        apart: Visits that were held out; None for none.
        source: Where they come from, in words.
        target: The noise's file; the report and the maps are beside it.
        picture: Whether maps are drawn.
        bound_time: Seconds for the best conceivable; 0 leaves it out.
    """
    from ..core import Prior, units
    from ..files import NoiseFile, save
    from ..geo import Grid
    from ..report import Section, Summary, noise_maps, summarise_noise

    region = visits.region()
    cells = Grid.covering(visits, shape=region.shape_of(USUAL_CELLS)) if min(region.size_m) > 0 else None
    held = NoiseFile(result.mechanism, None if cells is None else Prior.from_visits(cells, visits), source)
    save(held, target)
    told = summarise_noise(held, result.certificate, places=source)
    short = ("NOT FINISHED: the program was stopped before it was decided which loses less.",)
    spacing = [site.said] if site.said and result.choice.program is not None else []  # of the program's lattice
    unsure = () if result.finished else short
    why = Section("Choice", (*unsure, *site.search, *spacing, result.choice.sentence))
    sections = [*told.sections[:1], why, *told.sections[1:]]
    if apart is not None:
        sections.append(Section("Held out", (_held_out(result.mechanism, apart),)))
    summary = Summary(told.title, tuple(sections))
    if bound_time:
        lost = units.factor(result.choice.unit, "km") * result.choice.noise.upper
        summary = with_best(summary, result.promise, visits, lost * (1 + 1e-12), bound_time)
    _report(summary, target)
    drawn: list[Path] = []
    if picture and held.prior is not None:
        drawn = draw(lambda: noise_maps(held), target.with_suffix(".png"), "maps were")
    _say(target, drawn)
    if not result.finished:
        raise typer.Exit(PARTIAL)


def _held_out(noise: CoordinateNoise, visits: Visits) -> str:
    """Return what the noise loses on visits that its remap was not made of."""
    import numpy as np

    from ..geo import Projection
    from ..rounding import amount, counted

    plane = noise.projection or Projection(*visits.region().centre)
    points = plane.forward(visits.lat, visits.lon)
    lost = noise.error(points, np.ones(len(points))).loss
    return (
        f"On {counted(len(visits), 'visit')} held out, which the remap has not seen, you appear about "
        f"{amount(lost.value, 'm')} from where you truly are on average. That is an estimate, not a bound."
    )


def _report(summary: Summary, target: Path) -> None:
    """Write the report beside the mechanism file, and print it."""
    from ..core.atomic import atomically
    from .screen import print_summary

    with atomically(target.with_suffix(".md")) as temporary:
        temporary.write_text(summary.markdown(), encoding="utf-8")
    print_summary(summary)


def _say(target: Path, drawn: Sequence[Path]) -> None:
    say(f"Written: {', '.join(map(str, [target, target.with_suffix('.md'), *drawn]))}")


def _advice(result: Design, solver: str) -> str:
    """Say what to do about a gap that a solver did not reach."""
    from math import prod

    from ..optimal.solvers import SMALL
    from ..rounding import at_most

    accept = f"accept this with --gap {at_most(result.certificate.gap, 2)}"
    if solver != "auto":
        return f"try --solver auto, or {accept}"
    # On small problems the others have been asked.
    return accept if prod(result.problem.shape) <= SMALL else f"try --solver highs, or {accept}"
