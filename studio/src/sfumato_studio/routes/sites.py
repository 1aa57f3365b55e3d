"""Routes of sites: the places or values of a workspace, and its map."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Request
from starlette.concurrency import run_in_threadpool

from sfumato.reports.maps import outline_of

from ..answers import MapAnswer, ValueAnswer, ValuesAnswer, WorkspaceAnswer
from ..domains import ValuesDomain, domain_of
from ..errors import RefusedError
from ..requests import PlacesSiteBody, ValuesSiteBody
from ..serializers import workspace_answer
from . import BODY, ERRORS, AStudio, AWorkspace

sites = APIRouter(prefix="/api/workspaces/{workspace}", tags=["sites"], responses=ERRORS)


@sites.put("/site")
def choose_site(
    studio: AStudio,
    workspace: AWorkspace,
    site: Annotated[PlacesSiteBody | ValuesSiteBody, Body(discriminator="kind")],
) -> WorkspaceAnswer:
    """Choose the places or values; designs and jobs are dropped."""
    if workspace["data"] is None:
        raise RefusedError(409, "There are no data yet.", "choose an example, or drop a file.")
    if workspace["data"]["source"] == "mechanism":
        raise RefusedError(409, "A mechanism file has its own places or values.", "drop data to choose others.")
    body = site.model_dump()
    domain_of(workspace["data"], body, studio.store.files(workspace["id"]))  # before anything is dropped
    studio.start_over(workspace["id"], site=body)
    studio.begin(studio.store.workspace(workspace["id"]))
    return workspace_answer(studio, workspace["id"])


@sites.get("/map")
def show_map(studio: AStudio, workspace: AWorkspace) -> MapAnswer:
    """Return the places as GeoJSON, degrees, with how often people are at each."""
    domain = studio.domain(workspace)
    cells = domain.cells()
    corners = [corner for cell in cells for corner in cell["geometry"]["coordinates"][0]]
    east, north = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return MapAnswer.model_validate(
        {
            "cells": {"type": "FeatureCollection", "features": cells},
            "outline": workspace["outline"],
            "bounds": [min(east), min(north), max(east), max(north)],
        }
    )


@sites.put("/outline", openapi_extra=BODY)
async def set_outline(studio: AStudio, workspace: AWorkspace, request: Request) -> WorkspaceAnswer:
    """Keep an outline to draw the map on: GeoJSON in degrees, of land, water and names. The body is the file."""
    content = b"".join([block async for block in request.stream()])
    outline = await run_in_threadpool(outline_of, content, "the outline")
    await run_in_threadpool(studio.store.draw, workspace["id"], outline.geojson())
    return await run_in_threadpool(workspace_answer, studio, workspace["id"])


@sites.delete("/outline")
def forget_outline(studio: AStudio, workspace: AWorkspace) -> WorkspaceAnswer:
    """Forget the outline; the map of the world is shown."""
    studio.store.draw(workspace["id"], None)
    return workspace_answer(studio, workspace["id"])


@sites.get("/values")
def show_values(studio: AStudio, workspace: AWorkspace) -> ValuesAnswer:
    """Return the values of the column, with how often each occurs."""
    domain = studio.domain(workspace)
    if domain.places:
        raise RefusedError(409, "The data are places.", "see /map.")
    shares = domain.prior.probabilities.tolist()
    counts = domain.counts if isinstance(domain, ValuesDomain) else shares
    return ValuesAnswer(
        values=[
            ValueAnswer(index=index, label=str(label), count=counts[index], share=shares[index])
            for index, label in enumerate(domain.space.labels)
        ]
    )
