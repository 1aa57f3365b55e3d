"""Serializers of drawn reports, walks and attacks."""

from __future__ import annotations

from pydantic import BaseModel

from .shared import MeasuredAnswer


class CountAnswer(BaseModel):
    """The times that something was reported."""

    at: int
    count: int


class SharedAnswer(BaseModel):
    """Reports that were drawn."""

    reports: list[int]
    counts: list[CountAnswer]
    mean_loss: float
    sentence: str


class StepAnswer(BaseModel):
    """One report of a walk, and what the attacker believes then."""

    stop: int
    report: int
    belief: list[float]
    guess: int
    truth: int
    chance: float
    off: float
    sentence: str


class WalkedAnswer(BaseModel):
    """A walk."""

    steps: list[StepAnswer]
    sentence: str


class AdversaryAnswer(BaseModel):
    """The success of one attacker."""

    error: MeasuredAnswer | None
    found: MeasuredAnswer


class AttackedAnswer(BaseModel):
    """Three attackers who differ in what they know."""

    expected: AdversaryAnswer
    mistaken: AdversaryAnswer
    right: AdversaryAnswer
    sentences: list[str]
