"""Mechanisms: what one does at an epsilon, what an outcome needs, and which notions it keeps."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from sfumato.attacks import track_beliefs
from sfumato.core.arrays import Floats
from sfumato.optimal import likeliest

from ..answers import AtlasAnswer, BeliefAnswer, ChoiceAnswer, ContourAnswer, HereAnswer, PreviewAnswer
from ..atlas import atlas_answer
from ..grounds import Where
from ..refusals import RefusedError
from ..requests import ChooseBody, Identity, Index, Latitude, Longitude, Positive
from ..state import Chosen, Studio, shown
from ..store import Row
from .access import ERRORS, AStudio, AWorkspace

mechanisms = APIRouter(prefix="/api/workspaces/{workspace}", tags=["mechanisms"], responses=ERRORS)

AnEpsilon = Annotated[Positive | None, Query(description="On the frontier, interpolated.")]
ADesign = Annotated[Identity | None, Query(description="Instead of epsilon: the id of a proved design.")]
_CONTOURS = (0.5, 0.9)


@mechanisms.get("/preview")
def preview(
    studio: AStudio,
    workspace: AWorkspace,
    epsilon: AnEpsilon = None,
    design: ADesign = None,
    at: Annotated[Index | None, Query(description="A place or value, by its index.")] = None,
    lat: Annotated[Latitude | None, Query(description="A point on the map.")] = None,
    lon: Annotated[Longitude | None, Query(description="A point on the map.")] = None,
    report: Annotated[Index | None, Query(description="A report that an attacker sees.")] = None,
) -> PreviewAnswer:
    """Return a mechanism's cost and protection, where a person would appear, and what a report reveals."""
    chosen = studio.chosen(workspace, epsilon, design)
    return _preview(studio, workspace, chosen, position_of(at, lat, lon, needed=False), report)


@mechanisms.post("/choose")
def choose(studio: AStudio, workspace: AWorkspace, wish: ChooseBody) -> ChoiceAnswer:
    """Find the epsilon that an outcome needs, between the designs of the frontier."""
    loss, found = wish.loss_at_most, wish.found_at_most
    if (loss is None) == (found is None):
        raise RefusedError(422, "Name one outcome.", "send loss_at_most or found_at_most.", "loss_at_most")
    line = studio.line(workspace)
    epsilon = line.for_loss(loss) if loss is not None else line.for_found(found or 0.0)
    sentence = studio.words(workspace).chosen(epsilon, loss=loss, found=found)
    if epsilon is None:
        return ChoiceAnswer(epsilon=None, possible=False, sentence=sentence, preview=None)
    chosen = studio.chosen(workspace, epsilon, None)
    return ChoiceAnswer(
        epsilon=epsilon,
        possible=True,
        sentence=sentence,
        preview=_preview(studio, workspace, chosen, None, None),
    )


@mechanisms.get("/atlas")
def atlas(
    studio: AStudio, workspace: AWorkspace, epsilon: AnEpsilon = None, design: ADesign = None
) -> AtlasAnswer:
    """Return which notions of privacy follow from the guarantee, and with which numbers."""
    if epsilon is not None and design is None:
        return atlas_answer(studio.ground(workspace), studio.promised(workspace, epsilon))
    return atlas_answer(studio.ground(workspace), studio.chosen(workspace, epsilon, design).promised)


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


def row_from(chosen: Chosen, spread: Floats) -> Floats:
    """Return how likely each report is from a position that is taken for several secrets."""
    found = np.zeros(chosen.blend.upper.rows.shape[1])
    for secret in np.flatnonzero(spread):
        found += spread[secret] * chosen.blend.row(int(secret))
    return found


def _preview(
    studio: Studio, workspace: Row, chosen: Chosen, position: Where | None, report: int | None
) -> PreviewAnswer:
    ground, words, blend, stored = (
        studio.ground(workspace),
        studio.words(workspace),
        chosen.blend,
        chosen.design,
    )
    here = None
    if position is not None:
        row, mean = row_from(chosen, ground.spread(position)), 0.0
        mean = float(row @ ground.away(position))
        here = HereAnswer(
            at=ground.position_of(position),
            lat=position[1],
            lon=position[2],
            reports=shown(row),
            contours=[
                ContourAnswer(share=share, cells=[int(each) for each in likeliest(row, share)])
                for share in _CONTOURS
            ],
            mean_loss=mean,
            sentence=words.here(mean),
        )
    belief = None
    if report is not None:
        report = ground.checked_index(report)
        before, rows = ground.prior.probabilities, blend.rows
        possible = bool(before @ rows[:, report] > 0)
        after = track_beliefs(rows, ground.prior, [report])[-1] if possible else before
        guess = int(np.argmax(after))
        belief = BeliefAnswer(
            report=report,
            before=shown(before),
            after=shown(after),
            guess=guess,
            sentence=words.belief(report, guess, float(before[guess]), float(after[guess]))
            if possible
            else words.never(),
        )
    said = (
        words.blended(blend, chosen.epsilon)
        if stored is None
        else words.certified(
            chosen.promised, finished=stored["facts"]["finished"], status=stored["facts"]["status"]
        )
    )
    useful = ground.useful(blend.loss.value)
    return PreviewAnswer(
        epsilon=chosen.epsilon,
        status="interpolated" if stored is None else "certified",
        useful=useful,
        between=None if blend.single else [blend.lower.epsilon, blend.upper.epsilon],
        design=None if stored is None else stored["id"],
        loss=words.loss(blend.loss),
        error=words.error(blend.error),
        found=words.found(blend.found),
        sentences=said if useful else [words.same_for_all(), *said],
        here=here,
        belief=belief,
    )
