"""Serializers of workspaces, with their data and site."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from .designs import DesignBriefAnswer
from .jobs import JobAnswer
from .shared import RegionAnswer


class WorkspaceBriefAnswer(BaseModel):
    """One workspace of several."""

    id: str
    title: str
    created: str
    changed: str
    kind: Literal["places", "values"] | None


class WorkspacesAnswer(BaseModel):
    """All workspaces, the last changed first."""

    workspaces: list[WorkspaceBriefAnswer]


class DataAnswer(BaseModel):
    """The data that the workspace is about."""

    kind: Literal["places", "values"]
    source: Literal["city", "ages", "categories", "file"]
    title: str
    rows: int
    users: int | None
    notes: list[str]
    columns: list[str]
    extent: RegionAnswer | None
    region: RegionAnswer | None = Field(description="Where most visits are.")
    sentence: str


class EpsilonRangeAnswer(BaseModel):
    """The epsilons that make sense."""

    least: float
    most: float


class SiteAnswer(BaseModel):
    """The secrets of the workspace: places on the map, or values of a column."""

    kind: Literal["places", "values"]
    n: int
    spacing_m: float | None = None
    region: RegionAnswer | None = None
    polygon: list[list[float]] | None = Field(
        None, description="The area inside which visits count: longitude and latitude of its corners."
    )
    radius_m: float | None = None
    column: str | None = None
    labels: list[str] | None = None
    ordered: bool | None = None
    circular: int | None = Field(None, description="The length of the circle that the numbers are on.")
    epsilon_per_unit: bool | None = None
    epsilon_unit: str
    loss_unit: str
    epsilons: EpsilonRangeAnswer
    sentences: list[str]


class FrontierStateAnswer(BaseModel):
    """The part of a frontier that is there."""

    job: str | None
    epsilons: list[float]
    ready: int
    total: int


class WorkspaceAnswer(BaseModel):
    """All that a page shows of a workspace."""

    id: str
    title: str
    created: str
    changed: str
    data: DataAnswer | None
    site: SiteAnswer | None
    frontier: FrontierStateAnswer | None
    designs: list[DesignBriefAnswer]
    jobs: list[JobAnswer]
    outline: bool = Field(description="Whether a visitor gave an outline to draw the map on.")
    view: dict[str, Any]
