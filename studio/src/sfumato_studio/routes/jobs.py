"""Jobs: their state, live, and how they are cancelled and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from ..answers import JobAnswer
from ..jobs import FINAL
from ..serializers import job_answer
from ..state import Studio
from . import ERRORS, AJobId, AStudio, AWorkspace

job_routes = APIRouter(prefix="/api/workspaces/{workspace}/jobs/{job}", tags=["jobs"], responses=ERRORS)

_LOOK_S: Final = 0.1
_QUIET_S: Final = 10.0  # without news: a comment keeps the connection alive
_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Events named job, each with a job as JSON; the stream ends when the job does.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@job_routes.get("")
def state(studio: AStudio, workspace: AWorkspace, job: AJobId) -> JobAnswer:
    """Return the progress of a job."""
    return job_answer(studio.jobs.now(workspace["id"], job))


@job_routes.get("/events", response_class=StreamingResponse, responses=_STREAM)
async def events(studio: AStudio, workspace: AWorkspace, job: AJobId) -> StreamingResponse:
    """Stream the progress of a job until it ends."""
    await run_in_threadpool(studio.jobs.now, workspace["id"], job)  # refuses a job that is not there
    return StreamingResponse(_events(studio, workspace["id"], job), media_type="text/event-stream")


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


async def _events(studio: Studio, workspace: str, job: str) -> AsyncIterator[str]:
    seen, quiet = -2, 0.0
    while True:
        version = studio.jobs.version(job)
        if version != seen or version == -1:
            seen, quiet = version, 0.0
            row = await run_in_threadpool(studio.jobs.now, workspace, job)
            yield f"event: job\ndata: {job_answer(row).model_dump_json()}\n\n"
            if row["status"] in FINAL:
                return
        await asyncio.sleep(_LOOK_S)
        quiet += _LOOK_S
        if quiet > _QUIET_S:
            quiet = 0.0
            yield ": still here\n\n"
