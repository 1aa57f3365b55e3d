"""Levels: what each does, what an outcome needs, and the definitions of privacy that it satisfies."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from sfumato.attacks import track_beliefs
from sfumato.core.arrays import Floats

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
from ..levels import bracket
from ..notions import notions_answer
from ..requests import ChooseBody, Identity, Index, Latitude, LevelIndex, Longitude
from ..serializers import level_answer, levels_answer
from ..store import Row
from ..words import StudioWords
from . import ERRORS, AStudio, AWorkspace

levels = APIRouter(prefix="/api/workspaces/{workspace}", tags=["levels"], responses=ERRORS)

ALevel = Annotated[LevelIndex | None, Query(description="Of the slider, 0 for the least private.")]
ADesign = Annotated[Identity | None, Query(description="Instead of a level: the id of a design.")]
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
    level: ALevel = None,
    design: ADesign = None,
    at: Annotated[Index | None, Query(description="A place or value, by its index.")] = None,
    lat: Annotated[Latitude | None, Query(description="A point on the map.")] = None,
    lon: Annotated[Longitude | None, Query(description="A point on the map.")] = None,
    report: Annotated[Index | None, Query(description="A report that an attacker sees.")] = None,
) -> PreviewAnswer:
    """Return a mechanism's cost and protection, where a person would appear, and what a report reveals."""
    row, domain = studio.row(workspace, level, design), studio.domain(workspace)
    position, words = position_of(at, lat, lon, needed=False), studio.words(workspace)
    answer = level_answer(studio, workspace, row)
    if position is None and report is None:
        return PreviewAnswer(shown=answer, here=None, belief=None)
    matrix = studio.mechanism(workspace, row).matrix
    return PreviewAnswer(
        shown=answer,
        here=None if position is None else _here(domain, words, matrix, position),
        belief=None if report is None else _belief(domain, words, matrix, domain.checked_index(report)),
    )


@levels.post("/choose")
def choose(studio: AStudio, workspace: AWorkspace, body: ChooseBody) -> ChoiceAnswer:
    """Find the most private level that reaches an outcome for usefulness, or the least private for protection."""
    outcomes = (body.loss_at_most, body.found_at_most, body.half_width_at_most)
    if sum(outcome is not None for outcome in outcomes) != 1:
        raise RefusedError(
            422, "Name one outcome.", "send loss_at_most, found_at_most or half_width_at_most.", "loss_at_most"
        )
    words = studio.words(workspace)
    order = range(len(words.domain.epsilons))
    limit = next(outcome for outcome in outcomes if outcome is not None)
    wanted, best = words.outcome(*outcomes), "none"
    for at in order if body.found_at_most is not None else reversed(order):
        row = studio.level(workspace, at)
        reached = _outcome(words, row, body)
        best = "none" if reached is None else reached.text
        if reached is not None and reached.upper is not None and reached.upper <= limit:
            sentence = words.chosen(row["facts"]["proved"], wanted, best)
            return ChoiceAnswer(possible=True, level=at, design=row["id"], sentence=sentence)
    return ChoiceAnswer(possible=False, level=None, design=None, sentence=words.chosen(None, wanted, best))


def _outcome(words: StudioWords, row: Row, body: ChooseBody) -> MeasuredAnswer | None:
    """Return what a design reaches of the outcome that is wanted."""
    if body.loss_at_most is not None:
        return words.loss(bracket(row["facts"]["loss"]))
    if body.found_at_most is not None:
        return words.found(bracket(row["facts"]["found"]))
    shares = words.shares(row, body.people)
    return None if shares is None else shares.half_width


@levels.get("/notions")
def notions(studio: AStudio, workspace: AWorkspace, level: ALevel = None, design: ADesign = None) -> NotionsAnswer:
    """Return the definitions of privacy that follow from the guarantee, and with which numbers."""
    row = studio.row(workspace, level, design)
    return notions_answer(studio.domain(workspace), row["facts"]["proved"])


def position_of(at: int | None, lat: float | None, lon: float | None, *, needed: bool = True) -> Where | None:
    """Return a position from its fields; None where there is none and none is needed.

    Raises:
        RefusedError: If the fields name none or two.
    """
    if at is None and lat is None and lon is None and not needed:
        return None
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


def _here(domain: Domain, words: StudioWords, matrix: Floats, position: Where) -> HereAnswer:
    row = reports_from(domain, matrix, position)
    mean = float(row @ domain.away(position))
    return HereAnswer(
        at=domain.position_of(position),
        lat=position[1],
        lon=position[2],
        reports=shown(row),
        contours=[ContourAnswer(share=share, cells=_most_probable(row, share)) for share in _CONTOURS],
        mean_loss=mean,
        sentence=words.here(mean),
    )


def _most_probable(row: Floats, share: float) -> list[int]:
    """Return the fewest reports that together have at least a probability, the most probable first."""
    order = np.argsort(-row, kind="stable")
    count = int(np.searchsorted(np.cumsum(row[order]), share * (1 - 1e-12))) + 1
    at: list[int] = order[:count].tolist()
    return at


def _belief(domain: Domain, words: StudioWords, matrix: Floats, report: int) -> BeliefAnswer:
    before = domain.prior.probabilities
    possible = bool(before @ matrix[:, report] > 0)
    after = track_beliefs(matrix, domain.prior, [report])[-1] if possible else before
    guess = int(np.argmax(after))
    said = words.belief(report, guess, float(before[guess]), float(after[guess])) if possible else words.never()
    return BeliefAnswer(report=report, before=shown(before), after=shown(after), guess=guess, sentence=said)
