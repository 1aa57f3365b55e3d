"""Routes of levels: list, preview, choice by outcome, notions of privacy, drawn reports, walks and attacks."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

import numpy as np
from fastapi import APIRouter, Query

from sfumato.attacks import track_beliefs
from sfumato.core import Mechanism, Prior
from sfumato.core.arrays import Floats
from sfumato.reports import sentences as words
from sfumato.reports.maps import often_cells
from sfumato.rounding import percent
from sfumato.sampling import sampler

from .. import answers
from ..domains import Domain, Where
from ..errors import RefusedError
from ..levels import bracket, measures_of
from ..limits import WALK_REPORTS
from ..measures import estimate_answer, loss_answer, shares_answer, success_answers
from ..notions import notions_answer
from ..requests import AttackBody, ChooseBody, CompareBody, Index, Latitude, Longitude, ShareBody, WalkBody
from ..serializers import job_answer, level_answer, levels_answer
from ..store import Row
from . import ERRORS, AShown, AStudio, AWorkspace

levels = APIRouter(prefix="/api/workspaces/{workspace}", tags=["levels"], responses=ERRORS)
plays = APIRouter(prefix="/api/workspaces/{workspace}", tags=["plays"], responses=ERRORS)

_CONTOURS: Final = (0.5, 0.9)
_ATTACKERS: Final[tuple[answers.Attacker, ...]] = ("expected", "mistaken", "right")


@levels.get("/levels")
def list_all(studio: AStudio, workspace: AWorkspace) -> answers.LevelsAnswer:
    """Return the levels that are there; those that are missing are being made."""
    answer = levels_answer(studio, workspace)
    if sum(level.level is not None for level in answer.levels) < answer.total:
        studio.make_levels(workspace)
    return answer


@levels.get("/preview")
def preview(
    studio: AStudio,
    workspace: AWorkspace,
    row: AShown,
    at: Annotated[Index | None, Query(description="A place or value, by its index.")] = None,
    lat: Annotated[Latitude | None, Query(description="A point on the map.")] = None,
    lon: Annotated[Longitude | None, Query(description="A point on the map.")] = None,
    report: Annotated[Index | None, Query(description="A report that an attacker sees.")] = None,
) -> answers.PreviewAnswer:
    """Return a mechanism's cost and protection, where a person would appear, and what a report reveals."""
    domain = studio.domain(workspace)
    position = None if at is None and lat is None and lon is None else position_of(at, lat, lon)
    answer = level_answer(studio, workspace, row)
    if position is None and report is None:
        return answers.PreviewAnswer(shown=answer, here=None, belief=None)
    matrix = studio.mechanism(workspace, row).matrix
    return answers.PreviewAnswer(
        shown=answer,
        here=None if position is None else _here_answer(domain, matrix, position),
        belief=None if report is None else _belief(domain, matrix, domain.checked_index(report)),
    )


@levels.post("/choose")
def choose(studio: AStudio, workspace: AWorkspace, body: ChooseBody) -> answers.ChoiceAnswer:
    """Find the most private level that reaches an outcome for usefulness, or the least private for protection."""
    outcome, limit = body.one_of("loss_at_most", "found_at_most", "half_width_at_most")
    domain = studio.domain(workspace)
    order, best = range(len(domain.epsilons)), "none"
    unit, goal = domain.distance_unit, f"at most {percent(limit)} found"
    if outcome == "loss_at_most":
        goal = f"a loss of at most {words.loss_text(limit, domain.subject)}"
    elif outcome == "half_width_at_most":
        goal = f"shares within {percent(limit)}"
    for at in order if outcome == "found_at_most" else reversed(order):
        row = studio.level(workspace, at)
        measure = _outcome(domain, row, outcome, body.people)
        best = "none" if measure is None else measure.text
        if measure is not None and measure.upper is not None and measure.upper <= limit:
            sentence = words.level_words(row["facts"]["proved"], unit, goal, best)
            return answers.ChoiceAnswer(possible=True, level=at, design=row["id"], sentence=sentence)
    return answers.ChoiceAnswer(
        possible=False, level=None, design=None, sentence=words.level_words(None, unit, goal, best)
    )


def _outcome(domain: Domain, row: Row, name: str, people: int) -> answers.MeasuredAnswer | None:
    """Return what a design reaches of an outcome."""
    if name == "loss_at_most":
        return loss_answer(domain, bracket(row["facts"]["loss"]))
    if name == "found_at_most":
        return success_answers(domain, measures_of(row["facts"]))[1]
    shares = shares_answer(domain, row, people)
    return None if shares is None else shares.half_width


@levels.get("/notions")
def notions(studio: AStudio, workspace: AWorkspace, row: AShown) -> answers.NotionsAnswer:
    """Return the definitions of privacy that follow from the guarantee, and with which numbers."""
    return notions_answer(studio.domain(workspace), row["facts"]["proved"])


@plays.post("/share")
def share(studio: AStudio, workspace: AWorkspace, body: ShareBody) -> answers.SharedAnswer:
    """Draw reports from a position, with the operating system's randomness; nothing is kept."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    position = position_of(body.at, body.lat, body.lon)
    reports = _draw(domain, studio.mechanism(workspace, row), position, body.times)
    mean = float(np.mean(domain.distances_to(position)[reports]))
    same = sum(report == domain.position_of(position) for report in reports)
    return answers.SharedAnswer(
        reports=reports,
        counts=[answers.CountAnswer(at=at, count=count) for at, count in Counter(reports).most_common()],
        mean_loss=mean,
        sentence=words.drawn_reports_words(len(reports), same, mean, domain.subject),
    )


@plays.post("/walk")
def walk(studio: AStudio, workspace: AWorkspace, body: WalkBody) -> answers.WalkedAnswer:
    """Report on each stop of a walk, with the attacker's belief after every report."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    if len(body.path) * body.repeat > WALK_REPORTS:
        problem = f"That is more than {WALK_REPORTS:,} reports."
        raise RefusedError(422, problem, "take fewer stops, or repeat less.", "repeat")
    mechanism = studio.mechanism(workspace, row)
    stops = [position_of(stop.at, stop.lat, stop.lon) for stop in body.path]
    truths = [domain.position_of(stop) for stop in stops]
    longest = float(domain.metric.array[truths[:-1], truths[1:]].max(initial=0.0))
    limit = longest if body.near_m is None else body.near_m
    near = domain.metric.array <= limit if len(stops) > 1 else None
    reports = [report for stop in stops for report in _draw(domain, mechanism, stop, body.repeat)]
    try:
        beliefs = track_beliefs(mechanism.matrix, domain.prior, reports, near)
    except ValueError as error:
        hint = "let them think that steps can be longer: near_m."
        raise RefusedError(422, "The attacker thinks this walk impossible.", hint, "near_m") from error
    steps = []
    for number, (report, belief) in enumerate(zip(reports, beliefs[1:], strict=True)):
        stop, guess = number // body.repeat, int(np.argmax(belief))
        truth = truths[stop]
        chance, off = float(belief[truth]), float(domain.metric.array[guess, truth])
        sentence = words.step_words(number + 1, chance, off, domain.subject)
        steps.append(
            answers.StepAnswer(
                stop=stop,
                report=report,
                belief=round_digits(belief),
                guess=guess,
                truth=truth,
                chance=chance,
                off=off,
                sentence=sentence,
            )
        )
    epsilon, unit = row["facts"]["proved"], domain.distance_unit
    summary = words.walk_words(len(reports), epsilon, unit, None if near is None else limit, domain.subject)
    return answers.WalkedAnswer(steps=steps, sentence=summary)


@plays.post("/attack")
def attack(studio: AStudio, workspace: AWorkspace, body: AttackBody) -> answers.AttackedAnswer:
    """Attack with a belief of one's own: mistaken, or right."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    success = domain.attack_measures(studio.mechanism(workspace, row), _attacker_belief(domain, body))
    attackers = [
        answers.AttackerAnswer(
            name=name,
            who=text,
            error=None if measures.error is None else estimate_answer(domain, measures.error),
            found=estimate_answer(domain, measures.chance, share=True),
        )
        for name, text, measures in zip(_ATTACKERS, words.suspicion_words(domain.subject), success, strict=True)
    ]
    return answers.AttackedAnswer(attackers=attackers, sentences=[words.target_words(domain.subject)])


@plays.post("/compare", status_code=202)
def compare(studio: AStudio, workspace: AWorkspace, body: CompareBody) -> answers.JobAnswer:
    """Compare a mechanism with others of equal loss or epsilon; the same comparison is not started twice."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    if not domain.optimizable and domain.goal != "shares":
        raise RefusedError(409, "An opened mechanism is not compared: its data are not here.", "open the data.")
    loss, epsilon = bracket(row["facts"]["loss"]).value, row["facts"]["proved"]
    if body.equal == "loss" and loss >= domain.loss_of_nothing:
        subject, constant = domain.subject, domain.loss_of_nothing
        message = (
            f"A loss of {words.loss_text(loss, subject)} was chosen. {words.constant_words(constant, subject)}"
        )
        raise RefusedError(422, message, f"choose a loss below {words.loss_text(constant, subject)}.", "equal")
    request = {
        "design": row["id"],
        "level": body.level,
        "epsilon": epsilon,
        "equal": body.equal,
        "value": loss if body.equal == "loss" else epsilon,
    }
    for job in reversed(studio.jobs.of(workspace["id"], "compare")):
        if job["request"] == request and job["status"] in ("running", "done"):
            return job_answer(job)
    return job_answer(
        studio.jobs.start(workspace, "compare", "Comparing mechanisms", request, unit=domain.loss_unit)
    )


def position_of(at: int | None, lat: float | None, lon: float | None) -> Where:
    """Return a position from its fields; `RefusedError` if they name none or two."""
    if at is not None and lat is None and lon is None:
        return at
    if at is None and lat is not None and lon is not None:
        return lat, lon
    raise RefusedError(422, "A position is either an index, or lat and lon.", "send one of the two.", "at")


def round_digits(probabilities: Floats) -> list[float]:
    """Return probabilities for a picture, in six digits."""
    return [float(f"{value:.6g}") for value in probabilities.tolist()]


def _here_answer(domain: Domain, matrix: Floats, position: Where) -> answers.HereAnswer:
    row = domain.spread(position) @ matrix
    mean = float(row @ domain.distances_to(position))
    lat, lon = (None, None) if isinstance(position, int) else position
    return answers.HereAnswer(
        at=domain.position_of(position),
        lat=lat,
        lon=lon,
        reports=round_digits(row),
        contours=[
            answers.ContourAnswer(share=share, cells=np.flatnonzero(often_cells(row, share)).tolist())
            for share in _CONTOURS
        ],
        mean_loss=mean,
        sentence=words.here_words(mean, domain.subject),
    )


def _belief(domain: Domain, matrix: Floats, report: int) -> answers.BeliefAnswer:
    before = domain.prior.probabilities
    possible = bool(before @ matrix[:, report] > 0)
    after = track_beliefs(matrix, domain.prior, [report])[-1] if possible else before
    guess = int(np.argmax(after))
    beliefs = float(before[guess]), float(after[guess])
    sentence = (
        words.guess_words(*beliefs, domain.subject, reported=guess == report) if possible else words.RARE_REPORT
    )
    return answers.BeliefAnswer(
        report=report, before=round_digits(before), after=round_digits(after), guess=guess, sentence=sentence
    )


def _draw(domain: Domain, mechanism: Mechanism, position: Where, times: int) -> list[int]:
    """Draw reports from the row of a position, rounded to integers: exactly, and with no seed."""
    row = domain.spread(position) @ mechanism.matrix
    reports = sampler(Mechanism((row / row.sum())[None, :])).draw(np.zeros(times, dtype=np.intp))
    return [int(report) for report in reports]


def _attacker_belief(domain: Domain, body: AttackBody) -> Prior:
    """Return what the visitor believes."""
    body.one_of("belief", "main")
    if body.belief is not None:
        if len(body.belief) != len(domain.prior):
            problem = f"There are {len(body.belief)} weights for {len(domain.prior)} places or values."
            raise RefusedError(422, problem, "send one for each.", "belief")
        if not sum(body.belief) > 0:
            raise RefusedError(422, "All weights are 0.", "give one place or value some weight.", "belief")
        return Prior.from_counts(domain.space, np.array(body.belief))
    weights = np.zeros(len(domain.prior))
    for place in body.main or ():
        weights[domain.checked_index(place.at)] += place.weight
    if weights.sum() > 1 + 1e-9:
        problem = "The shares of the main places are more than 1."
        raise RefusedError(422, problem, "let them sum to 1 at most.", "main")
    rest = max(0.0, 1 - float(weights.sum()))
    return Prior.from_counts(domain.space, weights + rest * domain.prior.probabilities)
