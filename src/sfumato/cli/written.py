"""A design as it is written and printed: the mechanism file, the report and the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from .best import loss_on, promise_of_points, with_best
from .messages import PARTIAL, say
from .outputs import draw
from .progress import working

if TYPE_CHECKING:
    from ..core import Mechanism, Prior
    from ..geo import Visits
    from ..mechanisms.planar import CoordinateNoise
    from ..optimal import Design
    from ..reports import Summary
    from ..reports.maps import Outline
    from .reported import Reporting
    from .sites import Site

_MEASURING = "Measuring loss and attackers"
_LARGEST: Final = 1_000_000  # entries of a mechanism: what reports settle is then known in about a second
_EXPECTED: Final = 100_000  # reports for which the size of districts is stated
_REPORTS: Final = 1_000_000  # that nobody collects lightly


@dataclass(frozen=True, slots=True)
class DesignOutput:
    """The files of a design for places, and what its report tells beside the design.

    Attributes:
        site: Where it was made.
        visits: The visits of its prior.
        apart: Visits that were held out; None for none.
        source: Where they come from, in words.
        target: The mechanism file; the report and the maps are beside it.
        picture: Where maps are drawn; None for none.
        dark: Whether they are for a dark background.
        bound_time: Seconds for the best conceivable; 0 leaves it out.
        outline: What the maps are drawn on; None for nothing.
        reporting: The report to sign, and the limits on risks.
        of: The word for the visits, where points stand for them.
        remark: What the design depends on, where they are no visits.
    """

    site: Site
    visits: Visits
    apart: Visits | None
    source: str
    target: Path
    picture: Path | None
    dark: bool
    bound_time: float
    outline: Outline | None
    reporting: Reporting
    of: str = "visits"
    remark: str = ""


def write_places(result: Design, output: DesignOutput, *, solver: str) -> None:
    """Write and print a design for places; exit with code 3 if its optimum was not reached.

    Args:
        result: The program, or the planar noise that loses less.
        output: Where it goes.
        solver: ``--solver``.
    """
    from .._system import owner_only

    with owner_only(len(output.visits.users()) <= 1):  # a prior of one person is that person's habits
        if result.has_program:
            _write_program(result, output, solver)
        else:
            _write_noise(result, output)


def _write_program(result: Design, output: DesignOutput, solver: str) -> None:
    """Write and print a program."""
    from ..files import MechanismFile, save
    from ..geo import ChosenPlaces, Lattice
    from ..optimal import Status
    from ..reports import picture as maps
    from ..reports import summarise
    from ..rounding import counted

    problem, site, target = result.problem, output.site, output.target
    remarks = [each for each in (output.remark, site.said, *site.search) if each]
    reports = result.mechanism.observables
    of_places = reports == site.places or isinstance(reports, ChosenPlaces)
    if isinstance(site.places, Lattice) and not of_places and output.of != "visits":
        remarks.append(f"Reports are made at {counted(len(reports), 'place')}, the best for what they reveal.")
    elif isinstance(site.places, Lattice) and not of_places:
        remarks.append(
            f"Reports are made at {counted(len(reports), 'place')}, the best for what they reveal of these "
            "visits. Some may be exactly where somebody was, and whoever sees reports or the file sees them. If "
            "the visits are the protected person's own, that is a second release, which the promise does not "
            "cover."
        )
    held = MechanismFile.of_design(result)
    save(held, target)
    remarks += _estimates(result.mechanism, problem.prior)
    with working(_MEASURING):
        summary = summarise(
            result,
            site.distances,
            source=output.source,
            visits=output.visits,
            held_out=output.apart,
            remarks=remarks,
            of=output.of,
        )
    drawn: list[Path] = []
    promise = promise_of_points(result)
    if output.bound_time and promise is not None:
        summary = with_best(
            summary, promise, output.visits, loss_on(result.mechanism, output.visits), output.bound_time
        )
    _report(summary, target)
    if output.picture is not None:
        drawn = draw(
            lambda: maps(
                result.mechanism, problem.prior, site.distances, outline=output.outline, visits=output.visits
            ),
            output.picture,
            "maps were",
            dark=output.dark,
        )
    _say(target, drawn, output.reporting)
    code = output.reporting.write(
        held, target, source=output.source, visits=output.visits, remarks=remarks, outline=output.outline
    )
    if not result.finished:
        if result.status is Status.INACCURATE:
            say(f"Hint: {_advice(result, solver)}.", err=True)
        raise typer.Exit(code or PARTIAL)
    if code:
        raise typer.Exit(code)


def _estimates(mechanism: Mechanism, prior: Prior) -> list[str]:
    """Return that shares of single places cannot be estimated from reports, and of which districts they can."""
    from math import prod

    from ..estimation import expected_districts, identifiability
    from ..estimation.districts import MOST_PLACES

    if prod(mechanism.shape) > _LARGEST:
        return []
    with working(_MEASURING):
        known = identifiability(mechanism)
    if not known.least_reports > _REPORTS:
        return []
    sentence = str(known)
    begin = f"If you estimate shares: {sentence[:1].lower()}{sentence[1:]}"
    if len(mechanism.secrets) > MOST_PLACES:
        return [begin, f"Districts of more than {MOST_PLACES:,} places are not looked for."]
    with working("Looking for the districts that reports settle"):
        districts = expected_districts(mechanism, prior, _EXPECTED)
    what = "not even those of districts" if districts is None else f"the shares of {districts!r}"
    return [
        begin,
        f"From {_EXPECTED:,} reports of a population like this prior they settle {what}.",
    ]


def write_column(
    result: Design,
    source: str,
    target: Path,
    *,
    remarks: Sequence[str],
    reporting: Reporting,
    picture: Path | None,
    dark: bool,
) -> bool:
    """Write and print a design for categories or numbers; return whether its optimum was reached.

    Args:
        result: The design.
        source: Where its prior comes from, in words.
        target: The mechanism file; the report is beside it.
        remarks: Sentences on what reports can tell.
        reporting: The report to sign, and the limits on risks.
        picture: Where bars are drawn; None for none.
        dark: Whether they are for a dark background.
    """
    from ..files import MechanismFile, save
    from ..reports import summarise, values_picture

    problem = result.problem
    summary = summarise(result, source=source, remarks=remarks)
    held = MechanismFile.of_design(result)
    save(held, target)
    _report(summary, target)
    drawn: list[Path] = []
    if picture is not None:
        drawn = draw(lambda: values_picture(result.mechanism, problem.prior), picture, "bars were", dark=dark)
    _say(target, drawn, reporting)
    code = reporting.write(held, target, source=source, visits=None, remarks=remarks)
    if code:
        raise typer.Exit(code)
    return result.finished


def _write_noise(result: Design, output: DesignOutput) -> None:
    """Write and print planar noise that loses less than a program."""
    from ..core import units
    from ..files import MechanismFile, save
    from ..reports import Section, Summary, noise_maps, summarise_noise
    from .noise import coarse_of

    site, target = output.site, output.target
    with working(_MEASURING):
        held = MechanismFile.of_design(result, visits=output.visits, source=output.source)
        save(held, target)
        told = summarise_noise(held, result.certificate, places=output.source)
    choice = result.choice
    said = [] if choice is None else [choice.sentence]
    short = ("NOT FINISHED: the program was stopped before it was decided which loses less.",)
    remark = [output.remark] if output.remark else []
    spacing = (
        [site.said] if site.said and choice is not None and choice.program is not None else []
    )  # of the program's lattice
    unsure = () if result.finished else short
    why = Section("Choice", (*unsure, *remark, *site.search, *spacing, *said))
    sections = [*told.sections[:1], why, *told.sections[1:]]
    if output.apart is not None:
        sections.append(Section("Held out", (_held_out(result.mechanism, output.apart),)))
    if held.prior is not None:
        with working(_MEASURING):
            spread = coarse_of(held, spread=True).mechanism
        estimates = _estimates(spread, held.prior)
        sections += [Section("Estimates", tuple(estimates))] if estimates else []
    summary = Summary(told.title, tuple(sections))
    promise = promise_of_points(result)
    if output.bound_time and promise is not None:
        lost = units.factor(result.loss_unit, "km") * result.value
        summary = with_best(summary, promise, output.visits, lost * (1 + 1e-12), output.bound_time)
    _report(summary, target)
    drawn: list[Path] = []
    if output.picture is not None and held.prior is not None:
        drawn = draw(
            lambda: noise_maps(held, outline=output.outline, visits=output.visits),
            output.picture,
            "maps were",
            dark=output.dark,
        )
    _say(target, drawn, output.reporting)
    remarks = (*unsure, *remark, *site.search, *said)
    code = output.reporting.write(
        held, target, source=output.source, visits=output.visits, remarks=remarks, outline=output.outline
    )
    if code or not result.finished:
        raise typer.Exit(code or PARTIAL)


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
    from .._system import atomically
    from .screen import print_summary

    with atomically(target.with_suffix(".md")) as temporary:
        temporary.write_text(summary.markdown(), encoding="utf-8")
    print_summary(summary)


def _say(target: Path, drawn: Sequence[Path], reporting: Reporting) -> None:
    say(f"Written: {', '.join(map(str, [target, target.with_suffix('.md'), *drawn]))}")
    if reporting.path is None:
        say(f"For the page to read and sign, add --report {target.with_suffix('.html')}.")


def _advice(result: Design, solver: str) -> str:
    """Say what to do about a gap that a solver did not reach."""
    from math import prod

    from ..optimal.solver_registry import SMALL
    from ..rounding import at_most

    accept = f"accept this with --gap {at_most(result.certificate.gap, 2)}"
    if solver != "auto":
        return f"try --solver auto, or {accept}"
    # On small problems the others have been asked.
    return accept if prod(result.problem.shape) <= SMALL else f"try --solver highs, or {accept}"
