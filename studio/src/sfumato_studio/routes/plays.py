"""Plays: to share a place, to walk, to attack with a belief of one's own, and to compare mechanisms."""

from __future__ import annotations

from collections import Counter

import numpy as np
from fastapi import APIRouter

from sfumato.attacks import track_beliefs
from sfumato.core import Mechanism, Prior
from sfumato.sampling import sampler

from ..answers import (
    AdversaryAnswer,
    AttackedAnswer,
    CountAnswer,
    JobAnswer,
    SharedAnswer,
    StepAnswer,
    WalkedAnswer,
)
from ..grounds import Measures, StudioGround, Where
from ..limits import WALK_REPORTS
from ..refusals import RefusedError
from ..requests import AttackBody, CompareBody, ShareBody, WalkBody
from ..serializers import job_answer
from ..state import Chosen, shown
from ..words import StudioWords
from .access import ERRORS, AStudio, AWorkspace
from .mechanisms import position_of, row_from

plays = APIRouter(prefix="/api/workspaces/{workspace}", tags=["plays"], responses=ERRORS)


@plays.post("/share")
def share(studio: AStudio, workspace: AWorkspace, wish: ShareBody) -> SharedAnswer:
    """Draw reports from a position, with the operating system's randomness; nothing is kept."""
    chosen, ground = studio.chosen(workspace, wish.epsilon, wish.design), studio.ground(workspace)
    position = position_of(wish.at, wish.lat, wish.lon)
    if position is None:
        raise RefusedError(422, "A position is needed.", "send an index, or lat and lon.", "at")
    reports = _drawn(ground, chosen, position, wish.times)
    away = ground.away(position)
    mean = float(np.mean(away[reports]))
    same = sum(report == ground.position_of(position) for report in reports)
    return SharedAnswer(
        reports=reports,
        counts=[CountAnswer(at=at, count=count) for at, count in Counter(reports).most_common()],
        mean_loss=mean,
        sentence=studio.words(workspace).shared(len(reports), same, mean),
    )


@plays.post("/walk")
def walk(studio: AStudio, workspace: AWorkspace, wish: WalkBody) -> WalkedAnswer:
    """Report on each stop of a walk, with the attacker's belief after every report."""
    chosen, ground, words = (
        studio.chosen(workspace, wish.epsilon, wish.design),
        studio.ground(workspace),
        studio.words(workspace),
    )
    if len(wish.path) * wish.repeat > WALK_REPORTS:
        raise RefusedError(
            422, f"That is more than {WALK_REPORTS:,} reports.", "take fewer stops, or repeat less.", "repeat"
        )
    stops = [place for each in wish.path if (place := position_of(each.at, each.lat, each.lon)) is not None]
    truths = [ground.position_of(each) for each in stops]
    steps = ground.metric.array[truths[:-1], truths[1:]]
    limit = float(steps.max(initial=0.0)) if wish.near_m is None else wish.near_m
    moving = len(stops) > 1
    reports = [report for stop in stops for report in _drawn(ground, chosen, stop, wish.repeat)]
    try:
        beliefs = track_beliefs(chosen.blend.rows, ground.prior, reports, ground.near(limit) if moving else None)
    except ValueError as error:
        raise RefusedError(
            422,
            "The attacker thinks this walk impossible.",
            "let them think that steps can be longer: near_m.",
            "near_m",
        ) from error
    told = []
    for number, report in enumerate(reports):
        stop, belief = number // wish.repeat, beliefs[number + 1]
        guess = int(np.argmax(belief))
        chance, off = float(belief[truths[stop]]), float(ground.metric.array[guess, truths[stop]])
        told.append(
            StepAnswer(
                stop=stop,
                report=report,
                belief=shown(belief),
                guess=guess,
                truth=truths[stop],
                chance=chance,
                off=off,
                sentence=words.step(number + 1, chance, off),
            )
        )
    return WalkedAnswer(
        steps=told, sentence=words.walked(len(reports), chosen.promised, moving=moving, near=limit)
    )


@plays.post("/attack")
def attack(studio: AStudio, workspace: AWorkspace, wish: AttackBody) -> AttackedAnswer:
    """Attack with a belief of one's own: mistaken, or right."""
    chosen, ground, words = (
        studio.chosen(workspace, wish.epsilon, wish.design),
        studio.ground(workspace),
        studio.words(workspace),
    )
    found = ground.attacked(studio.mechanism(workspace, chosen), _belief(ground, wish))
    return AttackedAnswer(
        expected=_adversary(words, found["expected"]),
        mistaken=_adversary(words, found["mistaken"]),
        right=_adversary(words, found["right"]),
        sentences=words.attacked(),
    )


@plays.post("/compare", status_code=202)
def compare(studio: AStudio, workspace: AWorkspace, wish: CompareBody) -> JobAnswer:
    """Start a comparison of mechanisms at equal loss, or at equal epsilon."""
    if (wish.loss is None) == (wish.epsilon is None):
        raise RefusedError(422, "Name what they have in common.", "send loss or epsilon.", "loss")
    ground = studio.ground(workspace)
    if wish.loss is not None and wish.loss >= ground.loss_of_nothing:
        raise RefusedError(422, *studio.words(workspace).too_dear(wish.loss), "loss")
    return job_answer(
        studio.jobs.start(workspace, "compare", "Comparing mechanisms", wish.model_dump(), unit=ground.loss_unit)
    )


def _drawn(ground: StudioGround, chosen: Chosen, position: Where, times: int) -> list[int]:
    """Draw reports from the row of a position, rounded to integers: exactly, and with no seed."""
    row = row_from(chosen, ground.spread(position))
    found = sampler(Mechanism((row / row.sum())[None, :])).draw(np.zeros(times, dtype=np.intp))
    return [int(each) for each in found]


def _belief(ground: StudioGround, wish: AttackBody) -> Prior:
    """Return what the visitor believes."""
    if (wish.belief is None) == (wish.main is None):
        raise RefusedError(422, "Say what the attacker believes.", "send belief or main.", "belief")
    if wish.belief is not None:
        if len(wish.belief) != len(ground.prior):
            raise RefusedError(
                422,
                f"There are {len(wish.belief)} weights for {len(ground.prior)} places or values.",
                "send one for each.",
                "belief",
            )
        if not sum(wish.belief) > 0:
            raise RefusedError(422, "All weights are 0.", "give one place or value some weight.", "belief")
        return Prior.from_counts(ground.space, np.array(wish.belief))
    weights = np.zeros(len(ground.prior))
    for each in wish.main or ():
        weights[ground.checked_index(each.at)] += each.weight
    if weights.sum() > 1 + 1e-9:
        raise RefusedError(
            422, "The shares of the main places are more than 1.", "let them sum to 1 at most.", "main"
        )
    rest = max(0.0, 1 - float(weights.sum()))
    return Prior.from_counts(ground.space, weights + rest * ground.prior.probabilities)


def _adversary(words: StudioWords, found: Measures) -> AdversaryAnswer:
    error, hits = words.attacker(found.error, found.found)
    return AdversaryAnswer(error=error, found=hits)
