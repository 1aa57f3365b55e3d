"""Serializers of a mechanism's effects and of the notions that it satisfies."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from .shared import MeasuredAnswer


class ContourAnswer(BaseModel):
    """The fewest places that hold a share of the reports."""

    share: float
    cells: list[int]


class HereAnswer(BaseModel):
    """The reports of a person at a position."""

    at: int
    lat: float | None
    lon: float | None
    reports: list[float]
    contours: list[ContourAnswer]
    mean_loss: float
    sentence: str


class BeliefAnswer(BaseModel):
    """The attacker's belief after a report."""

    report: int
    before: list[float]
    after: list[float]
    guess: int
    sentence: str


class PreviewAnswer(BaseModel):
    """The effects of a mechanism."""

    epsilon: float
    status: Literal["interpolated", "certified"]
    useful: bool = Field(description="Whether it loses less than the same report for everybody, by 0.5 % or more.")
    between: list[float] | None
    design: str | None
    loss: MeasuredAnswer
    error: MeasuredAnswer | None
    found: MeasuredAnswer
    sentences: list[str]
    here: HereAnswer | None
    belief: BeliefAnswer | None


class ChoiceAnswer(BaseModel):
    """The epsilon that an outcome needs."""

    epsilon: float | None
    possible: bool
    sentence: str
    preview: PreviewAnswer | None


class NotionAnswer(BaseModel):
    """One notion of privacy."""

    key: str
    title: str
    plain: str = Field(description="Its idea in plain words.")
    group: str = Field(description="The notions that it belongs to, in words.")
    lit: bool
    value: str = Field(description="Its numbers; empty where it does not follow from the promise.")
    sentence: str


class ImplicationAnswer(BaseModel):
    """One notion gives another."""

    start: str
    end: str
    name: str
    sentence: str


class AtlasAnswer(BaseModel):
    """The notions of privacy at an epsilon."""

    notions: list[NotionAnswer]
    edges: list[ImplicationAnswer]
    lit_when: str
