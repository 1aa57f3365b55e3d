"""Serializers of designs and of their frontier."""

from __future__ import annotations

from pydantic import BaseModel, Field

from .shared import MeasuredAnswer


class DesignBriefAnswer(BaseModel):
    """One proved design of several."""

    id: str
    epsilon: float
    made: str
    frontier: bool = Field(description="Whether it was made as a part of the frontier.")
    finished: bool
    loss: MeasuredAnswer
    gap: float | None


class SectionAnswer(BaseModel):
    """A heading and its sentences."""

    title: str
    sentences: list[str]


class DesignAnswer(BaseModel):
    """One proved design."""

    id: str
    epsilon: float
    made: str
    finished: bool
    n: int
    loss: MeasuredAnswer
    error: MeasuredAnswer | None
    found: MeasuredAnswer
    bound: MeasuredAnswer
    gap: float | None
    status: str
    sections: list[SectionAnswer]


class FrontierPointAnswer(BaseModel):
    """One proved design of the frontier."""

    design: str
    epsilon: float
    loss: MeasuredAnswer
    error: MeasuredAnswer | None
    found: MeasuredAnswer
    gap: float | None


class BlindAnswer(BaseModel):
    """The success of an attacker who sees no report."""

    error: MeasuredAnswer | None
    found: MeasuredAnswer


class FrontierAnswer(BaseModel):
    """The price of privacy: the designs that are there."""

    points: list[FrontierPointAnswer]
    ready: int
    total: int
    unit: str
    epsilon_unit: str
    blind: BlindAnswer
