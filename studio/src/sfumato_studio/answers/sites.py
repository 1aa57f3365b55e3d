"""Serializers of the map and of a column's values."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class GeometryAnswer(BaseModel):
    """A GeoJSON geometry, degrees: longitude, then latitude."""

    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class CellPropertiesAnswer(BaseModel):
    """One place of the map."""

    name: str
    visits: float
    share: float
    lat: float
    lon: float


class CellAnswer(BaseModel):
    """A GeoJSON feature: one place of the map."""

    type: Literal["Feature"]
    id: int
    geometry: GeometryAnswer
    properties: CellPropertiesAnswer


class CellsAnswer(BaseModel):
    """A GeoJSON collection of places."""

    type: Literal["FeatureCollection"]
    features: list[CellAnswer]


class AreaAnswer(BaseModel):
    """A GeoJSON feature: the region."""

    type: Literal["Feature"]
    geometry: GeometryAnswer
    properties: dict[str, Any]


class MapAnswer(BaseModel):
    """The map of a workspace."""

    cells: CellsAnswer
    region: AreaAnswer
    outline: dict[str, Any] | None
    bounds: list[float] = Field(description="West, south, east, north.")


class ValueAnswer(BaseModel):
    """One value of a column."""

    index: int
    label: str
    count: float
    share: float


class ValuesAnswer(BaseModel):
    """The values of a column."""

    values: list[ValueAnswer]
