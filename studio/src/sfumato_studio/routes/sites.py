"""Sites: the places or values of a workspace, its map, and the frontier."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Request
from starlette.concurrency import run_in_threadpool

from sfumato.reports.maps import outline_of

from ..answers import (
    BlindAnswer,
    FrontierAnswer,
    FrontierPointAnswer,
    JobAnswer,
    MapAnswer,
    ValueAnswer,
    ValuesAnswer,
    WorkspaceAnswer,
)
from ..grounds import PlacesGround, ValuesGround, ground_of
from ..limits import FRONTIER_DESIGNS
from ..refusals import RefusedError
from ..reports import outline_in
from ..requests import FrontierBody, PlacesSiteBody, ValuesSiteBody
from ..serializers import job_answer, workspace_answer
from ..state import bracket
from .access import BODY, ERRORS, AStudio, AWorkspace

sites = APIRouter(prefix="/api/workspaces/{workspace}", tags=["sites"], responses=ERRORS)


@sites.put("/site")
def placed(
    studio: AStudio,
    workspace: AWorkspace,
    site: Annotated[PlacesSiteBody | ValuesSiteBody, Body(discriminator="kind")],
) -> WorkspaceAnswer:
    """Choose the places or values; designs and jobs are dropped."""
    if workspace["data"] is None:
        raise RefusedError(409, "There are no data yet.", "choose an example, or drop a file.")
    asked = site.model_dump()
    ground_of(workspace["data"], asked, studio.store.files(workspace["id"]))  # before anything is dropped
    studio.start_over(workspace["id"], site=asked)
    return workspace_answer(studio, studio.store.workspace(workspace["id"]))


@sites.get("/map")
def mapped(studio: AStudio, workspace: AWorkspace) -> MapAnswer:
    """Return the places as GeoJSON, degrees, with how often people are at each."""
    ground = studio.ground(workspace)
    if not isinstance(ground, PlacesGround):
        raise RefusedError(409, "The data are no places.", "see /values.")
    region, drawn = ground.region, ground.polygon
    ring = (
        [
            [region.west, region.south],
            [region.east, region.south],
            [region.east, region.north],
            [region.west, region.north],
        ]
        if drawn is None
        else drawn.corners[:, ::-1].tolist()
    )
    cells = ground.cells()
    corners = [corner for cell in cells for corner in cell["geometry"]["coordinates"][0]]
    east, north = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return MapAnswer.model_validate(
        {
            "cells": {"type": "FeatureCollection", "features": cells},
            "region": {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
                "properties": {"name": "region"},
            },
            "outline": outline_in(workspace),
            "bounds": [min(east), min(north), max(east), max(north)],
        }
    )


@sites.put("/outline", openapi_extra=BODY)
async def drawn(studio: AStudio, workspace: AWorkspace, request: Request) -> WorkspaceAnswer:
    """Keep an outline to draw the map on: GeoJSON in degrees, of land, water and names. The body is the file."""
    content = b"".join([block async for block in request.stream()])
    found = await run_in_threadpool(outline_of, content, "the outline")
    await run_in_threadpool(studio.store.draw, workspace["id"], found.geojson())
    row = await run_in_threadpool(studio.store.workspace, workspace["id"])
    return await run_in_threadpool(workspace_answer, studio, row)


@sites.delete("/outline")
def undrawn(studio: AStudio, workspace: AWorkspace) -> WorkspaceAnswer:
    """Forget the outline; the built-in city has one of its own."""
    studio.store.draw(workspace["id"], None)
    return workspace_answer(studio, studio.store.workspace(workspace["id"]))


@sites.get("/values")
def valued(studio: AStudio, workspace: AWorkspace) -> ValuesAnswer:
    """Return the values of the column, with how often each occurs."""
    ground = studio.ground(workspace)
    if not isinstance(ground, ValuesGround):
        raise RefusedError(409, "The data are places.", "see /map.")
    shares = ground.prior.probabilities.tolist()
    return ValuesAnswer(
        values=[
            ValueAnswer(index=index, label=label, count=ground.counts[index], share=shares[index])
            for index, label in enumerate(ground.labels)
        ]
    )


@sites.post("/frontier", status_code=202)
def started(studio: AStudio, workspace: AWorkspace, wish: FrontierBody) -> JobAnswer:
    """Start the dozen designs between which everything is interpolated; each is used as soon as it is ready."""
    ground = studio.ground(workspace)
    for row in reversed(studio.jobs.of(workspace["id"])):
        if row["kind"] == "frontier":
            if row["status"] in ("running", "done"):
                return job_answer(row)
            return job_answer(studio.jobs.resume(workspace, row["id"]))
    title = f"{FRONTIER_DESIGNS} designs for the frontier"
    return job_answer(studio.jobs.start(workspace, "frontier", title, wish.model_dump(), unit=ground.loss_unit))


@sites.get("/frontier")
def frontier(studio: AStudio, workspace: AWorkspace) -> FrontierAnswer:
    """Return the proved designs of the frontier that are there: what privacy costs."""
    ground, words = studio.ground(workspace), studio.words(workspace)
    rows = studio.frontier(workspace)
    blind = ground.blind
    return FrontierAnswer(
        points=[
            FrontierPointAnswer(
                design=row["id"],
                epsilon=row["epsilon"],
                loss=words.loss(bracket(row["facts"]["loss"])),
                error=words.error(None if row["facts"]["error"] is None else bracket(row["facts"]["error"])),
                found=words.found(bracket(row["facts"]["found"])),
                gap=row["facts"]["gap"],
            )
            for row in rows
        ],
        ready=len(rows),
        total=FRONTIER_DESIGNS,
        unit=ground.loss_unit,
        epsilon_unit=ground.epsilon_unit,
        blind=BlindAnswer(error=words.error(blind.error), found=words.found(blind.found)),
    )
