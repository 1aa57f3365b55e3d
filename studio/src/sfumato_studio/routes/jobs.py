"""Routes of jobs: state, cancel, resume and remove."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from ..answers import JobAnswer
from ..serializers import job_answer
from . import ERRORS, AJobId, AStudio, AWorkspace

job_routes = APIRouter(prefix="/api/workspaces/{workspace}/jobs/{job}", tags=["jobs"], responses=ERRORS)


@job_routes.get("")
def state(studio: AStudio, workspace: AWorkspace, job: AJobId) -> JobAnswer:
    """Return the progress of a job."""
    return job_answer(studio.jobs.now(workspace["id"], job))


@job_routes.delete("", status_code=204, response_model=None)
def remove(
    studio: AStudio,
    workspace: AWorkspace,
    job: AJobId,
    designs: Annotated[bool, Query(description="Whether the designs that it made go, too.")] = False,
) -> None:
    """Forget a job that ended."""
    studio.jobs.remove(workspace["id"], job, designs=designs)


@job_routes.post("/cancel")
def cancel(studio: AStudio, workspace: AWorkspace, job: AJobId) -> JobAnswer:
    """Stop a job; what was proved so far is kept."""
    return job_answer(studio.jobs.cancel(workspace["id"], job))


@job_routes.post("/resume")
def resume(studio: AStudio, workspace: AWorkspace, job: AJobId) -> JobAnswer:
    """Go on with a job that was cancelled or interrupted, or that failed.

    Levels go on with the designs that are missing. A design goes on where it was stopped, and the better of
    the one before and the one after stays.
    """
    return job_answer(studio.jobs.resume(workspace, job))
