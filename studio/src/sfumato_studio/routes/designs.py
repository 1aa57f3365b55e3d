"""Routes of designs and jobs: optimize, request, follow, delete, and take away."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from sfumato._version import __version__

from .. import measures
from ..answers import JobAnswer, TakeawayAnswer
from ..errors import RefusedError
from ..levels import FINE_GAP, OPTIMIZED, ROUGH_GAP, best_rows
from ..limits import JOBS_RUNNING, LEVELS, PEOPLE, REPORT_SECONDS
from ..processes import run_worker
from ..requests import DesignBody, OptimizeBody, People
from ..serializers import job_answer
from ..state import Studio
from ..store import Row
from . import ERRORS, ADesignId, AJobId, AShown, AStudio, AWorkspace

designs = APIRouter(prefix="/api/workspaces/{workspace}", tags=["designs"], responses=ERRORS)
job_routes = APIRouter(prefix="/api/workspaces/{workspace}/jobs/{job}", tags=["jobs"], responses=ERRORS)


def _file(description: str, kind: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """Return the description of an answer that is a file."""
    return {200: {"description": description, "content": {kind: {"schema": schema}}}}


_REPORTS_MADE: Final = threading.BoundedSemaphore(JOBS_RUNNING)
_LOCKS: Final[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)  # of the designs that are reported
_TEXT: Final = {"type": "string"}
_MECHANISM: Final = _file(
    "The mechanism file. It holds the prior: keep it as secret as the data.",
    "application/zip",
    {**_TEXT, "format": "binary"},
)
_SCRIPT: Final = _file("A Python script that makes the mechanism again.", "text/x-python; charset=utf-8", _TEXT)
_REPORT: Final = _file("The report, as one page that opens offline.", "text/html; charset=utf-8", _TEXT)
_FACTS: Final = _file("All that the report says, for machines.", "application/json", {"type": "object"})


@designs.post("/optimize", status_code=202)
def optimize(studio: AStudio, workspace: AWorkspace, body: OptimizeBody) -> JobAnswer:
    """Optimize all levels, from the first one shown outward, or go on; each is used as soon as it is ready."""
    domain = studio.domain(workspace)
    if not domain.optimizable:
        raise RefusedError(409, "There is nothing to optimize here.", "use the levels as they are.")
    for row in reversed(studio.jobs.of(workspace["id"], "levels")):
        if row["status"] in ("running", "done"):
            return job_answer(row)
        return job_answer(studio.jobs.resume(workspace, row["id"]))
    title = f"Optimizing {LEVELS} levels"
    return job_answer(studio.jobs.start(workspace, "levels", title, body.model_dump(), unit=domain.loss_unit))


@designs.post("/designs", status_code=202)
def start(studio: AStudio, workspace: AWorkspace, body: DesignBody) -> JobAnswer:
    """Start a design for an epsilon, or for an outcome whose epsilon is searched for."""
    aim, value = body.one_of("epsilon", "loss_at_most", "found_at_most")
    domain = studio.domain(workspace)
    if workspace["data"]["source"] == "mechanism":
        raise RefusedError(409, "There is nothing to optimize here.", "open the data.")
    if aim == "found_at_most" and not domain.places:
        raise RefusedError(422, "For values, a chance to be found cannot be searched for.", "choose a level.", aim)
    if body.distortion is not None and aim != "epsilon":
        problem = "The attacker's error was requested without epsilon."
        raise RefusedError(422, problem, "send epsilon, too.", "epsilon")
    title = f"Design for {aim.replace('_', ' ')} {value:g}"
    request = {**body.model_dump(exclude_none=True), "gap": FINE_GAP if body.thorough else ROUGH_GAP}
    return job_answer(studio.jobs.start(workspace, "design", title, request, unit=domain.loss_unit))


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


@designs.delete("/designs/{design}", status_code=204, response_model=None)
def delete(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> None:
    """Delete a design, and what its job could go on from."""
    job = studio.store.design(workspace["id"], design)["job"]
    studio.store.delete_design(workspace["id"], design)
    studio.jobs.forget(workspace["id"], job)


@designs.get("/takeaway")
def takeaway(
    studio: AStudio,
    workspace: AWorkspace,
    row: AShown,
    people: Annotated[People, Query(description="Who answer the survey.")] = PEOPLE,
) -> TakeawayAnswer:
    """Return facts to know before a mechanism is downloaded."""
    domain = studio.domain(workspace)
    shares = measures.shares_answer(domain, row, people)
    return TakeawayAnswer(
        sentences=measures.takeaway(domain, studio.error_radius(workspace, row)),
        warnings=measures.warnings(domain, row["facts"], shares),
        shares=shares,
    )


@designs.get("/mechanism.sfm", response_class=FileResponse, responses=_MECHANISM)
def mechanism(studio: AStudio, workspace: AWorkspace, row: AShown) -> FileResponse:
    """Download the mechanism file."""
    path = studio.file(workspace["id"], row["id"], ".sfm")
    return FileResponse(path, filename="mechanism.sfm", media_type="application/zip")


@designs.get("/script.py", response_class=Response, responses=_SCRIPT)
def script(studio: AStudio, workspace: AWorkspace, row: AShown) -> Response:
    """Download a Python script that makes the mechanism again."""
    domain, facts = studio.domain(workspace), row["facts"]
    gap = facts["wanted_gap"] if facts["name"] == OPTIMIZED else None
    text = domain.script(workspace["data"]["name"], row["epsilon"], gap, facts["distortion"])
    return _download(text, "script.py", "text/x-python; charset=utf-8")


@designs.get("/report.html", response_class=Response, responses=_REPORT)
def report_page(studio: AStudio, workspace: AWorkspace, row: AShown) -> Response:
    """Download the report to read and to sign. The first time it is made, which takes some seconds."""
    return _download(report_file(studio, workspace, row, ".html"), "report.html", "text/html; charset=utf-8")


@designs.get("/report.json", response_class=Response, responses=_FACTS)
def report_facts(studio: AStudio, workspace: AWorkspace, row: AShown) -> Response:
    """Download what the report says as JSON. The first time it is made, which takes some seconds."""
    return _download(report_file(studio, workspace, row, ".json"), "report.json", "application/json")


def _download(content: bytes | str, name: str, media_type: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=disposition)


def report_file(studio: Studio, workspace: Row, row: Row, ending: str) -> bytes:
    """Return a file of a design's report; a worker makes it where it is not there."""
    design = row["id"]
    orders = _orders(studio, workspace, row)
    path = studio.file(workspace["id"], design, ".sfm").with_name(f"{orders['request']['file']}{ending}")
    with suppress(OSError):
        return path.read_bytes()
    if not _REPORTS_MADE.acquire(blocking=False):
        raise RefusedError(429, f"{JOBS_RUNNING} reports are being made already.", "try again in a minute.")
    try:
        with _LOCKS[design]:
            if not path.is_file():
                _make_report(studio, orders)
            return path.read_bytes()
    except OSError:  # it was dropped at this moment
        _check_exists(studio, workspace["id"], design)
        changed = "What the report shows was changed while it was made."
        raise RefusedError(409, changed, "ask for it again.", "design") from None
    finally:
        _REPORTS_MADE.release()


def _make_report(studio: Studio, orders: Row) -> None:
    """Make a report, and drop those of the same design that show something else."""
    workspace, design = orders["workspace"], orders["request"]["design"]
    late = RefusedError(422, "The report took too long.", "choose fewer places.")
    try:
        run_worker(orders, REPORT_SECONDS, late, studio.apart)
    finally:
        _check_exists(studio, workspace, design)
    studio.store.drop_reports(workspace, design, but=orders["request"]["file"])


def _check_exists(studio: Studio, workspace: str, design: str) -> None:
    """Delete the files of a design that was deleted in the meantime; `RefusedError` if so."""
    try:
        studio.store.design(workspace, design)
    except RefusedError:
        studio.store.delete_design(workspace, design)
        raise RefusedError(404, "The design was deleted.", "load the page again.", "design") from None


def _orders(studio: Studio, workspace: Row, row: Row) -> Row:
    facts = row["facts"]
    domain, rows = studio.domain(workspace), studio.store.designs(workspace["id"])
    levels = [level for level in best_rows(domain, rows) if level["id"] != row["id"]]
    outline = workspace["outline"]
    content = json.dumps([__version__, outline, [level["id"] for level in levels]], sort_keys=True)
    request = {
        "design": row["id"],
        "file": f"{row['id']}.{hashlib.sha256(content.encode()).hexdigest()[:16]}",
        "outline": outline,
        "levels": [{"epsilon": level["facts"]["proved"], "loss": level["facts"]["loss"][2]} for level in levels],
        "remarks": [] if facts["finished"] else [facts["status"]],
    }
    return studio.store.orders(workspace, "report", request) | {"workspace": workspace["id"]}
