"""Serializers of the studio's own facts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class LimitsAnswer(BaseModel):
    """The most that can be asked for."""

    upload_bytes: int
    places: int
    shares: int
    path_points: int
    jobs_running: int
    workspaces: int


class ExampleAnswer(BaseModel):
    """Data that is built in."""

    key: Literal["city", "ages", "categories"]
    title: str
    kind: Literal["places", "values"]
    sentence: str


class AboutAnswer(BaseModel):
    """The studio."""

    version: str
    studio: int
    limits: LimitsAnswer
    formats: list[str]
    examples: list[ExampleAnswer]
