"""Routes of levels: list, preview, choice by outcome, and notions of privacy."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from sfumato.attacks import track_beliefs
from sfumato.core.arrays import Floats
from sfumato.reports.sentences import NEVER, guess_words, here_words, level_words, loss_text
from sfumato.rounding import percent

from ..answers import (
    BeliefAnswer,
    ChoiceAnswer,
    ContourAnswer,
    HereAnswer,
    LevelsAnswer,
    MeasuredAnswer,
    NotionsAnswer,
    PreviewAnswer,
)
from ..domains import Domain, Where
from ..errors import RefusedError
from ..levels import bracket, measures_of
from ..measures import loss_answer, shares_answer, success_answers
from ..notions import notions_answer
from ..requests import ChooseBody, Index, Latitude, Longitude
from ..serializers import level_answer, levels_answer
from ..store import Row
from . import ERRORS, AShown, AStudio, AWorkspace

levels = APIRouter(prefix="/api/workspaces/{workspace}", tags=["levels"], responses=ERRORS)

_CONTOURS = (0.5, 0.9)


@levels.get("/levels")
def listed(studio: AStudio, workspace: AWorkspace) -> LevelsAnswer:
    """Return the levels that are there; those that are missing are being made."""
    answer = levels_answer(studio, workspace)
    if sum(each.level is not None for each in answer.levels) < answer.total:
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
) -> PreviewAnswer:
    """Return a mechanism's cost and protection, where a person would appear, and what a report reveals."""
    domain = studio.domain(workspace)
    position = None if at is None and lat is None and lon is None else position_of(at, lat, lon)
    answer = level_answer(studio, workspace, row)
    if position is None and report is None:
        return PreviewAnswer(shown=answer, here=None, belief=None)
    matrix = studio.mechanism(workspace, row).matrix
    return PreviewAnswer(
        shown=answer,
        here=None if position is None else _here(domain, matrix, position),
        belief=None if report is None else _belief(domain, matrix, domain.checked_index(report)),
    )


@levels.post("/choose")
def choose(studio: AStudio, workspace: AWorkspace, body: ChooseBody) -> ChoiceAnswer:
    """Find the most private level that reaches an outcome for usefulness, or the least private for protection."""
    outcomes = (body.loss_at_most, body.found_at_most, body.half_width_at_most)
    if sum(outcome is not None for outcome in outcomes) != 1:
        raise RefusedError(
            422, "Name one outcome.", "send loss_at_most, found_at_most or half_width_at_most.", "loss_at_most"
        )
    domain, limit = studio.domain(workspace), next(outcome for outcome in outcomes if outcome is not None)
    order, best = range(len(domain.epsilons)), "none"
    unit, wanted = domain.distance_unit, f"at most {percent(limit)} found"
    if body.loss_at_most is not None:
        wanted = f"a loss of at most {loss_text(limit, domain.subject)}"
    elif body.half_width_at_most is not None:
        wanted = f"shares within {percent(limit)}"
    for at in order if body.found_at_most is not None else reversed(order):
        row = studio.level(workspace, at)
        reached = _outcome(domain, row, body)
        best = "none" if reached is None else reached.text
        if reached is not None and reached.upper is not None and reached.upper <= limit:
            sentence = level_words(row["facts"]["proved"], unit, wanted, best)
            return ChoiceAnswer(possible=True, level=at, design=row["id"], sentence=sentence)
    return ChoiceAnswer(possible=False, level=None, design=None, sentence=level_words(None, unit, wanted, best))


def _outcome(domain: Domain, row: Row, body: ChooseBody) -> MeasuredAnswer | None:
    """Return what a design reaches of the outcome that is wanted."""
    if body.loss_at_most is not None:
        return loss_answer(domain, bracket(row["facts"]["loss"]))
    if body.found_at_most is not None:
        return success_answers(domain, measures_of(row["facts"]))[1]
    shares = shares_answer(domain, row, body.people)
    return None if shares is None else shares.half_width


@levels.get("/notions")
def notions(studio: AStudio, workspace: AWorkspace, row: AShown) -> NotionsAnswer:
    """Return the definitions of privacy that follow from the guarantee, and with which numbers."""
    return notions_answer(studio.domain(workspace), row["facts"]["proved"])


def position_of(at: int | None, lat: float | None, lon: float | None) -> Where:
    """Return a position from its fields; `RefusedError` if they name none or two."""
    if (lat is None) != (lon is None) or (at is None) == (lat is None):
        raise RefusedError(422, "A position is either an index, or lat and lon.", "send one of the two.", "at")
    return at, lat, lon


def reports_from(domain: Domain, matrix: Floats, position: Where) -> Floats:
    """Return the probability of each report from a position that is rounded to several secrets."""
    row: Floats = domain.spread(position) @ matrix
    return row


def shown(probabilities: Floats) -> list[float]:
    """Return probabilities for a picture, in six digits."""
    return [float(f"{each:.6g}") for each in probabilities.tolist()]


def _here(domain: Domain, matrix: Floats, position: Where) -> HereAnswer:
    row = reports_from(domain, matrix, position)
    mean = float(row @ domain.away(position))
    return HereAnswer(
        at=domain.position_of(position),
        lat=position[1],
        lon=position[2],
        reports=shown(row),
        contours=[ContourAnswer(share=share, cells=_most_probable(row, share)) for share in _CONTOURS],
        mean_loss=mean,
        sentence=here_words(mean, domain.subject),
    )


def _most_probable(row: Floats, share: float) -> list[int]:
    """Return the fewest reports that together have at least a probability, the most probable first."""
    order = np.argsort(-row, kind="stable")
    count = int(np.searchsorted(np.cumsum(row[order]), share * (1 - 1e-12))) + 1
    at: list[int] = order[:count].tolist()
    return at


def _belief(domain: Domain, matrix: Floats, report: int) -> BeliefAnswer:
    before = domain.prior.probabilities
    possible = bool(before @ matrix[:, report] > 0)
    after = track_beliefs(matrix, domain.prior, [report])[-1] if possible else before
    guess = int(np.argmax(after))
    beliefs = float(before[guess]), float(after[guess])
    said = guess_words(*beliefs, domain.subject, reported=guess == report) if possible else NEVER
    return BeliefAnswer(report=report, before=shown(before), after=shown(after), guess=guess, sentence=said)
