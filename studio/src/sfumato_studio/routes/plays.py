"""Routes that try a mechanism: drawn reports, walks, attacks and comparisons."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
from fastapi import APIRouter

from sfumato.attacks import track_beliefs
from sfumato.core import Mechanism, Prior
from sfumato.reports.sentences import (
    constant_words,
    drawn_reports_words,
    loss_text,
    step_words,
    suspicion_words,
    target_words,
    walk_words,
)
from sfumato.sampling import sampler

from ..answers import (
    AttackedAnswer,
    Attacker,
    AttackerAnswer,
    CountAnswer,
    JobAnswer,
    SharedAnswer,
    StepAnswer,
    WalkedAnswer,
)
from ..domains import Domain, Where
from ..errors import RefusedError
from ..levels import bracket
from ..limits import WALK_REPORTS
from ..measures import estimate_answer
from ..requests import AttackBody, CompareBody, ShareBody, WalkBody
from ..serializers import job_answer
from . import ERRORS, AStudio, AWorkspace
from .levels import position_of, reports_from, shown

plays = APIRouter(prefix="/api/workspaces/{workspace}", tags=["plays"], responses=ERRORS)

_ATTACKERS: Final[tuple[Attacker, ...]] = ("expected", "mistaken", "right")


@plays.post("/share")
def share(studio: AStudio, workspace: AWorkspace, body: ShareBody) -> SharedAnswer:
    """Draw reports from a position, with the operating system's randomness; nothing is kept."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    position = position_of(body.at, body.lat, body.lon)
    reports = _draw(domain, studio.mechanism(workspace, row), position, body.times)
    mean = float(np.mean(domain.away(position)[reports]))
    same = sum(report == domain.position_of(position) for report in reports)
    return SharedAnswer(
        reports=reports,
        counts=[CountAnswer(at=at, count=count) for at, count in Counter(reports).most_common()],
        mean_loss=mean,
        sentence=drawn_reports_words(len(reports), same, mean, domain.subject),
    )


@plays.post("/walk")
def walk(studio: AStudio, workspace: AWorkspace, body: WalkBody) -> WalkedAnswer:
    """Report on each stop of a walk, with the attacker's belief after every report."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    if len(body.path) * body.repeat > WALK_REPORTS:
        raise RefusedError(
            422, f"That is more than {WALK_REPORTS:,} reports.", "take fewer stops, or repeat less.", "repeat"
        )
    mechanism = studio.mechanism(workspace, row)
    stops = [position_of(each.at, each.lat, each.lon) for each in body.path]
    truths = [domain.position_of(each) for each in stops]
    steps = domain.metric.array[truths[:-1], truths[1:]]
    limit = float(steps.max(initial=0.0)) if body.near_m is None else body.near_m
    moving = len(stops) > 1
    reports = [report for stop in stops for report in _draw(domain, mechanism, stop, body.repeat)]
    try:
        beliefs = track_beliefs(
            mechanism.matrix, domain.prior, reports, domain.metric.array <= limit if moving else None
        )
    except ValueError as error:
        raise RefusedError(
            422,
            "The attacker thinks this walk impossible.",
            "let them think that steps can be longer: near_m.",
            "near_m",
        ) from error
    answers = []
    for number, report in enumerate(reports):
        stop, belief = number // body.repeat, beliefs[number + 1]
        guess = int(np.argmax(belief))
        chance, off = float(belief[truths[stop]]), float(domain.metric.array[guess, truths[stop]])
        answers.append(
            StepAnswer(
                stop=stop,
                report=report,
                belief=shown(belief),
                guess=guess,
                truth=truths[stop],
                chance=chance,
                off=off,
                sentence=step_words(number + 1, chance, off, domain.subject),
            )
        )
    epsilon, unit = row["facts"]["proved"], domain.distance_unit
    sentence = walk_words(len(reports), epsilon, unit, limit if moving else None, domain.subject)
    return WalkedAnswer(steps=answers, sentence=sentence)


@plays.post("/attack")
def attack(studio: AStudio, workspace: AWorkspace, body: AttackBody) -> AttackedAnswer:
    """Attack with a belief of one's own: mistaken, or right."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    success = domain.attacked(studio.mechanism(workspace, row), _belief(domain, body))
    attackers = [
        AttackerAnswer(
            name=name,
            who=who,
            error=None if measures.error is None else estimate_answer(domain, measures.error),
            found=estimate_answer(domain, measures.found, share=True),
        )
        for name, who, measures in zip(_ATTACKERS, suspicion_words(domain.subject), success, strict=True)
    ]
    return AttackedAnswer(attackers=attackers, sentences=[target_words(domain.subject)])


@plays.post("/compare", status_code=202)
def compare(studio: AStudio, workspace: AWorkspace, body: CompareBody) -> JobAnswer:
    """Compare a mechanism with others of equal loss or epsilon; the same comparison is not started twice."""
    row, domain = studio.row(workspace, body.level, body.design), studio.domain(workspace)
    if not domain.optimizable and domain.goal != "shares":
        raise RefusedError(409, "An opened mechanism is not compared: its data are not here.", "open the data.")
    loss, epsilon = bracket(row["facts"]["loss"]).value, row["facts"]["proved"]
    if body.equal == "loss" and loss >= domain.loss_of_nothing:
        subject, constant = domain.subject, domain.loss_of_nothing
        message = f"A loss of {loss_text(loss, subject)} was chosen. {constant_words(constant, subject)}"
        raise RefusedError(422, message, f"choose a loss below {loss_text(constant, subject)}.", "equal")
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


def _draw(domain: Domain, mechanism: Mechanism, position: Where, times: int) -> list[int]:
    """Draw reports from the row of a position, rounded to integers: exactly, and with no seed."""
    row = reports_from(domain, mechanism.matrix, position)
    reports = sampler(Mechanism((row / row.sum())[None, :])).draw(np.zeros(times, dtype=np.intp))
    return [int(each) for each in reports]


def _belief(domain: Domain, body: AttackBody) -> Prior:
    """Return what the visitor believes."""
    if (body.belief is None) == (body.main is None):
        raise RefusedError(422, "Say what the attacker believes.", "send belief or main.", "belief")
    if body.belief is not None:
        if len(body.belief) != len(domain.prior):
            raise RefusedError(
                422,
                f"There are {len(body.belief)} weights for {len(domain.prior)} places or values.",
                "send one for each.",
                "belief",
            )
        if not sum(body.belief) > 0:
            raise RefusedError(422, "All weights are 0.", "give one place or value some weight.", "belief")
        return Prior.from_counts(domain.space, np.array(body.belief))
    weights = np.zeros(len(domain.prior))
    for each in body.main or ():
        weights[domain.checked_index(each.at)] += each.weight
    if weights.sum() > 1 + 1e-9:
        raise RefusedError(
            422, "The shares of the main places are more than 1.", "let them sum to 1 at most.", "main"
        )
    rest = max(0.0, 1 - float(weights.sum()))
    return Prior.from_counts(domain.space, weights + rest * domain.prior.probabilities)
