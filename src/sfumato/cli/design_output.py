"""Output of ``sfumato design``: mechanism file, report, figures, and the bound for all mechanisms."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import typer

from .._system import atomically, owner_only
from ..errors import InputError
from .messages import PARTIAL, say, working
from .outputs import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..core import CoordinatePrivacy, KindErrors, Mechanism, Prior
    from ..core.arrays import Floats
    from ..files import MechanismFile
    from ..geo import Visits
    from ..mechanisms.planar import CoordinateNoise
    from ..optimal import Design, RobustDesign
    from ..reports import Summary
    from ..reports.maps import Outline
    from .mechanism_files import Reporting
    from .options import ColumnOptions, DesignOptions
    from .place_options import Site

_MEASURING = "Measuring loss and attackers"
_MIXTURE: Final = "visits of the least favourable mixture"
_LARGEST: Final = 1_000_000  # entries of a mechanism, for about a second of work
_EXPECTED: Final = 100_000  # reports for which districts are computed
_REPORTS: Final = 1_000_000  # more than most surveys collect


class PriorData(NamedTuple):
    """The visits of a design's prior, or points instead of visits."""

    visits: Visits
    source: str  # in words
    held_out: Visits | None = None
    of: str = "visits"  # or "points"
    remark: str = ""  # on the data that the design depends on


class Kinds(NamedTuple):
    """The kinds of places that an attacker guesses."""

    names: tuple[str, ...]
    joint: Floats  # the probability of each kind and secret
    errors: KindErrors

    @classmethod
    def of(cls, shares: Mapping[str, Floats], prior: Prior) -> Self:
        """Return the kinds of a map whose shares in each secret are given, under a prior."""
        import numpy as np

        from ..core import KindErrors

        array = np.array(list(shares.values()))
        return cls(tuple(shares), array * prior.probabilities, KindErrors.of_shares(array))


class DesignOutput(NamedTuple):
    """The files of a design for places, and the data that its report is about."""

    options: DesignOptions
    site: Site
    data: PriorData
    target: Path  # the mechanism file; the Markdown report has its name
    picture: Path | None
    outline: Outline | None  # that maps are drawn on
    reporting: Reporting
    robust: RobustDesign | None = None  # whose design this is
    names: tuple[str, ...] = ()  # of its priors
    kinds: Kinds | None = None
    groups: Floats | None = None  # P(group, place) of the groups to hide, where the data has their shares


def check_bound_time(seconds: float, *, has_epsilon: bool) -> None:
    """Refuse a bound that cannot be proved, before the work."""
    if not 0 <= seconds < float("inf"):
        raise InputError(f"--bound-time {seconds:g} is not a number of seconds.", "write 60, or 0 for no bound.")
    if seconds and not has_epsilon:
        raise InputError(
            "--bound-time was given, but no epsilon is guaranteed, which the bound is about.",
            "add --epsilon, or leave --bound-time out.",
        )


def write_places(design: Design, output: DesignOutput) -> None:
    """Write and print a design for places; exit with code 3 if its optimum was not reached."""
    # A prior of one person is that person's habits, and a mixture may be that of one group.
    with owner_only(output.robust is not None or len(output.data.visits.users()) <= 1):
        if design.has_program:
            _write_program(design, output)
        else:
            _write_noise(design, output)


def _write_program(design: Design, output: DesignOutput) -> None:
    from ..files import MechanismFile, save
    from ..geo import ChosenPlaces, Lattice
    from ..optimal import Status
    from ..reports import picture as maps
    from ..reports import summarise
    from ..reports.sentences import chosen_words

    mechanism, prior, site, data = design.mechanism, design.problem.prior, output.site, output.data
    remarks = [remark for remark in (data.remark, site.reason, *site.search) if remark]
    reports = mechanism.observables
    if isinstance(site.places, Lattice) and not (reports == site.places or isinstance(reports, ChosenPlaces)):
        remarks.append(chosen_words(len(reports), data.of))
    file = MechanismFile.of_design(design)
    save(file, output.target)
    of_groups = group_sentences(mechanism, output.groups)
    remarks += of_groups
    remarks += _estimates(mechanism, prior)
    with working(_MEASURING):
        summary = summarise(
            design,
            site.distances,
            source=data.source,
            visits=data.visits if output.robust is None else None,
            held_out=data.held_out,
            remarks=remarks,
            of=data.of if output.robust is None else _MIXTURE,
            robust=output.robust,
            names=output.names,
        )
    drawing = partial(maps, mechanism, prior, site.distances, outline=output.outline, visits=data.visits)
    summary = _with_kinds(replace(summary, brief=(*summary.brief, *of_groups)), mechanism, output.kinds)
    code = _publish_places(file, _with_bound(summary, design, output), output, drawing, remarks)
    if not design.is_finished:
        if design.status is Status.INACCURATE:
            say(f"Hint: {_advice(design, output.options.solver)}.", err=True)
        raise typer.Exit(code or PARTIAL)
    if code:
        raise typer.Exit(code)


def _write_noise(design: Design, output: DesignOutput) -> None:
    from ..files import MechanismFile, save
    from ..reports import Section, noise_maps, summarise_noise
    from ..reports.sentences import stopped_words, unfinished_words
    from .mechanism_files import coarse_of

    site, data, choice = output.site, output.data, design.choice
    with working(_MEASURING):
        file = MechanismFile.of_design(design, visits=data.visits, source=data.source)
        save(file, output.target)
        summary = summarise_noise(file, design.certificate, places=data.source)
    doubts = [] if design.is_finished else [unfinished_words(stopped_words(design))]
    remarks = [data.remark] if data.remark else []
    spacing = [site.reason] if site.reason and choice is not None and choice.program is not None else []
    reasons, short = ([], []) if choice is None else ([choice.sentence], [choice.brief])
    sections = [
        *summary.sections[:1],
        Section("Choice", (*doubts, *remarks, *site.search, *spacing, *reasons)),
        *summary.sections[1:],
    ]
    sentences = () if data.held_out is None else (_loss_held_out(design.mechanism, data.held_out),)
    sections += [Section("Held out", sentences)] if sentences else []
    if file.prior is not None:
        with working(_MEASURING):
            spread = coarse_of(file, spread=True).mechanism
        estimates = _estimates(spread, file.prior)
        sections += [Section("Estimates", tuple(estimates))] if estimates else []
    summary = replace(summary, sections=tuple(sections), brief=(*doubts, *summary.brief, *sentences, *short))
    drawing = None if file.prior is None else partial(noise_maps, file, outline=output.outline, visits=data.visits)
    remarks = [*doubts, *remarks, *site.search, *reasons]
    code = _publish_places(file, _with_bound(summary, design, output), output, drawing, remarks)
    if code or not design.is_finished:
        raise typer.Exit(code or PARTIAL)


def write_column(
    design: Design,
    source: str,
    target: Path,
    *,
    remarks: Sequence[str],
    reporting: Reporting,
    options: ColumnOptions,
    robust: RobustDesign | None = None,
    names: Sequence[str] = (),
) -> bool:
    """Write and print a design for categories or numbers; return whether its optimum was reached."""
    from ..files import MechanismFile, save
    from ..reports import summarise, values_picture

    summary = summarise(design, source=source, remarks=remarks, robust=robust, names=names)
    file = MechanismFile.of_design(design)
    save(file, target)
    _print_report(replace(summary, brief=(*summary.brief, f"Prior: {source}.", *remarks)), target, verbose=False)
    prior = design.problem.prior
    figures = draw(lambda: values_picture(design.mechanism, prior), options.figure, "bars were", dark=options.dark)
    _print_files(target, figures, reporting)
    code = reporting.write(file, target, source=source, visits=None, remarks=[*remarks, *summary.remarks])
    if code:
        raise typer.Exit(code)
    return design.is_finished


def _publish_places(
    file: MechanismFile,
    summary: Summary,
    output: DesignOutput,
    maps: Callable[[], Figure] | None,
    remarks: Sequence[str],
) -> int:
    data, target = output.data, output.target
    brief = (*summary.brief, *output.site.search)  # with the epsilon that an outcome needs
    _print_report(replace(summary, brief=brief), target, verbose=output.options.verbose)
    figures = [] if maps is None else draw(maps, output.picture, "maps were", dark=output.options.dark)
    flags = {"--kinds": output.options.kinds, "--kind-column": output.options.kind_column}
    audit = [str(part) for flag in flags.items() if flag[1] is not None for part in flag]
    _print_files(target, figures, output.reporting, audit)
    every = [*remarks, *summary.remarks]
    return output.reporting.write(
        file, target, source=data.source, visits=data.visits, remarks=every, outline=output.outline
    )


def _print_report(summary: Summary, target: Path, *, verbose: bool) -> None:
    from .screen import Screen, print_summary

    with atomically(target.with_suffix(".md")) as temporary:
        temporary.write_text(summary.markdown(), encoding="utf-8")
    if verbose:
        print_summary(summary)
    else:
        console = Screen()
        for sentence in summary.brief:
            console.print(sentence)


def _print_files(target: Path, figures: Sequence[Path], reporting: Reporting, audit: Sequence[str] = ()) -> None:
    say(f"Written: {', '.join(map(str, [target, target.with_suffix('.md'), *figures]))}")
    page = f" For a page to sign, add --report {target.with_suffix('.html').name}."
    say(f"Next: {shlex.join(['sfumato', 'audit', str(target), *audit])}.{page if reporting.path is None else ''}")


def _with_bound(summary: Summary, design: Design, output: DesignOutput) -> Summary:
    """Return a summary with the bound for all mechanisms with the guarantee, if ``--bound-time`` asks for it."""
    from ..core import Prior, units
    from ..optimal import coordinate_bound
    from ..proofs import expected_loss_above
    from ..reports import best_section

    promise, visits, seconds = _promise_of_points(design), output.data.visits, output.options.bound_time
    if not seconds or promise is None:
        return summary
    if design.has_program:
        places = output.site.places
        costs = places.loss(visits, unit="km", observables=design.mechanism.observables)
        loss = expected_loss_above(design.mechanism, Prior.from_visits(places, visits), costs)
    else:
        loss = units.factor(design.loss_unit, "km") * design.value
    epsilon = promise.epsilon * units.factor("km", promise.unit)
    with working("Proving what no mechanism with this guarantee can go below"):
        bound = coordinate_bound(visits, epsilon, unit="km", time_limit=seconds)
    upper = loss * (1 + 1e-12)  # of the mean distance from visits to reports, in kilometres
    section = best_section(bound, upper)
    return replace(summary, sections=(*summary.sections, section), brief=(*summary.brief, *section.sentences[1:]))


def _with_kinds(summary: Summary, mechanism: Mechanism, kinds: Kinds | None) -> Summary:
    """Return a summary with the success of the best attacker who guesses the kind of the place."""
    from ..proofs import class_vulnerability_above
    from ..reports import Section
    from ..reports.sentences import kind_words

    if kinds is None:
        return summary
    before = float(kinds.joint.sum(axis=1).max())
    sentences = kind_words(class_vulnerability_above(mechanism, kinds.joint), before, kinds.names)
    section = Section("Kinds of places", sentences)
    brief, remarks = (*summary.brief, *sentences), (*summary.remarks, *sentences)
    return replace(summary, sections=(*summary.sections, section), brief=brief, remarks=remarks)


def group_sentences(mechanism: Mechanism, joint: Floats | None) -> list[str]:
    """Return the sentence on the best guess of the group, by P(group, secret); none without groups."""
    from ..proofs import class_vulnerability_above
    from ..reports.sentences import group_words

    return [] if joint is None else [group_words(class_vulnerability_above(mechanism, joint), joint)]


def _promise_of_points(design: Design) -> CoordinatePrivacy | None:
    from ..core import CoordinatePrivacy
    from ..proofs import VertexPrivacy

    for guarantee in design.guarantees:
        if isinstance(guarantee, CoordinatePrivacy):
            return guarantee
        if isinstance(guarantee, VertexPrivacy):
            return guarantee.promise
    return None


def _estimates(mechanism: Mechanism, prior: Prior) -> list[str]:
    """Return the shares that cannot be estimated from reports, and the districts whose shares can."""
    from ..estimation import MOST_PLACES, expected_districts, identifiability
    from ..reports.sentences import MANY_PLACES, expected_words, survey_words

    if prod(mechanism.shape) > _LARGEST:
        return []
    with working(_MEASURING):
        known = identifiability(mechanism)
    if not known.least_reports > _REPORTS:
        return []
    if len(mechanism.secrets) > MOST_PLACES:
        return [survey_words(known), MANY_PLACES]
    with working("Finding the districts that reports settle"):
        districts = expected_districts(mechanism, prior, _EXPECTED)
    return [survey_words(known), expected_words(districts, _EXPECTED)]


def _loss_held_out(noise: CoordinateNoise, visits: Visits) -> str:
    import numpy as np

    from ..geo import Projection
    from ..reports.facts import Quantity
    from ..reports.sentences import held_out_words

    plane = noise.projection or Projection(*visits.region().centre)
    points = plane.forward(visits.lat, visits.lon)
    loss = noise.error(points, np.ones(len(points))).loss
    return held_out_words(Quantity.about(loss.value, "m"), len(visits), "the remap")


def _advice(result: Design, solver: str) -> str:
    from ..optimal import SMALL_PROBLEM
    from ..rounding import at_most

    accept = f"accept this with --gap {at_most(result.certificate.gap, 2)}"
    if solver != "auto":
        return f"try --solver auto, or {accept}"
    # On small problems auto has tried the other solvers.
    return accept if prod(result.problem.shape) <= SMALL_PROBLEM else f"try --solver highs, or {accept}"
