"""Shapes that many answers have."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ErrorTextAnswer(BaseModel):
    """The error in words, and what to do."""

    message: str
    hint: str
    field: str = Field(description="The field of the request that is meant; empty for none.")


class ErrorAnswer(BaseModel):
    """An error."""

    error: ErrorTextAnswer


class MeasuredAnswer(BaseModel):
    """A number between two bounds; null where a bound is not known."""

    lower: float | None
    value: float
    upper: float | None
    unit: str
    sentence: str = Field(description="To be shown as it stands. It is text, not HTML.")


class RegionAnswer(BaseModel):
    """A rectangle on the map, degrees."""

    south: float
    west: float
    north: float
    east: float
