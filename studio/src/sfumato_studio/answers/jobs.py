"""Serializers of jobs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

Status = Literal["queued", "running", "done", "cancelled", "interrupted", "failed"]


class ProgressAnswer(BaseModel):
    """One line of a running job."""

    seconds: float
    value: float | None
    bound: float | None
    gap: float | None
    rows: int
    step: int


class JobErrorAnswer(BaseModel):
    """The reason why a job failed."""

    message: str
    hint: str


class JobAnswer(BaseModel):
    """Long work in a process of its own."""

    id: str
    kind: Literal["frontier", "design", "compare"]
    status: Status
    title: str
    created: str
    changed: str
    done: float
    total: float
    progress: list[ProgressAnswer]
    unit: str
    maximise: bool
    error: JobErrorAnswer | None
    result: dict[str, Any] | None
    request: dict[str, Any]
