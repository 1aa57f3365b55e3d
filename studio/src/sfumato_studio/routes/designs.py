"""Routes of designs: request, show, download and delete."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from ..answers import DesignAnswer, JobAnswer
from ..refusals import RefusedError
from ..reports import made_report
from ..requests import DesignBody
from ..serializers import design_answer, job_answer
from .access import ERRORS, ADesignId, AStudio, AWorkspace

designs = APIRouter(prefix="/api/workspaces/{workspace}/designs", tags=["designs"], responses=ERRORS)

_MECHANISM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The mechanism file. It holds the prior: keep it as secret as the data.",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_SCRIPT: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "A Python script that makes the design again.",
        "content": {"text/x-python; charset=utf-8": {"schema": {"type": "string"}}},
    }
}
_REPORT: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The report, as one page that opens offline.",
        "content": {"text/html; charset=utf-8": {"schema": {"type": "string"}}},
    }
}
_FACTS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "All that the report says, for machines.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@designs.post("", status_code=202)
def ask(studio: AStudio, workspace: AWorkspace, wish: DesignBody) -> JobAnswer:
    """Start a design for an epsilon, or for an outcome whose epsilon is searched for."""
    aims = [name for name in ("epsilon", "loss_at_most", "found_at_most") if getattr(wish, name) is not None]
    if len(aims) != 1:
        raise RefusedError(
            422, "Name what the design is for.", "send one of epsilon, loss_at_most and found_at_most.", "epsilon"
        )
    ground = studio.ground(workspace)
    if wish.found_at_most is not None and ground.kind != "places":
        raise RefusedError(
            422,
            "For values, a chance to be found cannot be searched for.",
            "choose an epsilon on the frontier.",
            "found_at_most",
        )
    if wish.distortion is not None and wish.epsilon is None:
        raise RefusedError(
            422, "The attacker's error was asked for without epsilon.", "send epsilon, too.", "epsilon"
        )
    title = f"Design for {aims[0].replace('_', ' ')} {getattr(wish, aims[0]):g}"
    return job_answer(
        studio.jobs.start(workspace, "design", title, wish.model_dump(exclude_none=True), unit=ground.loss_unit)
    )


@designs.get("/{design}")
def one(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> DesignAnswer:
    """Return what is proved of a design, in numbers and in words."""
    return design_answer(studio.words(workspace), studio.store.design(workspace["id"], design))


@designs.delete("/{design}", status_code=204, response_model=None)
def delete(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> None:
    """Delete a design, and what its job could go on from."""
    job = studio.store.design(workspace["id"], design)["job"]
    studio.store.delete_design(workspace["id"], design)
    studio.jobs.forget(workspace["id"], job)


@designs.get("/{design}/mechanism.sfm", response_class=FileResponse, responses=_MECHANISM)
def mechanism(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> FileResponse:
    """Download the mechanism file."""
    studio.store.design(workspace["id"], design)
    path = studio.file(workspace["id"], design, ".sfm")
    return FileResponse(path, filename="mechanism.sfm", media_type="application/zip")


@designs.get("/{design}/script.py", response_class=Response, responses=_SCRIPT)
def script(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> Response:
    """Download a Python script that makes the design again."""
    row, ground = studio.store.design(workspace["id"], design), studio.ground(workspace)
    text = ground.script(
        workspace["data"]["name"], row["epsilon"], row["facts"]["wanted_gap"], row["facts"]["distortion"]
    )
    return _downloaded(text, "script.py", "text/x-python; charset=utf-8")


@designs.get("/{design}/report.html", response_class=Response, responses=_REPORT)
def report_page(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> Response:
    """Download the report to read and to sign. The first time it is made, which takes some seconds."""
    return _downloaded(made_report(studio, workspace, design, ".html"), "report.html", "text/html; charset=utf-8")


@designs.get("/{design}/report.json", response_class=Response, responses=_FACTS)
def report_facts(studio: AStudio, workspace: AWorkspace, design: ADesignId) -> Response:
    """Download what the report says as JSON. The first time it is made, which takes some seconds."""
    return _downloaded(made_report(studio, workspace, design, ".json"), "report.json", "application/json")


def _downloaded(content: bytes | str, name: str, media_type: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=disposition)
