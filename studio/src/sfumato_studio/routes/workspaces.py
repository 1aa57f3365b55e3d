"""Routes of workspaces (create, list, change, fill, choose their places or values, delete) and of budgets."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Body, Query, Request
from starlette.concurrency import run_in_threadpool

from sfumato._version import __version__
from sfumato.geo import FORMATS
from sfumato.ledgers import amount_text
from sfumato.reports.sentences import spending_words

from .. import answers
from ..domains import domain_of
from ..errors import RefusedError
from ..examples import EXAMPLES, example_data
from ..limits import UPLOAD_BYTES, VIEW_BYTES
from ..requests import ChangeBody, ExampleBody, PlacesSiteBody, ValuesSiteBody
from ..serializers import workspace_answer
from . import BODY, ERRORS, AStudio, AWorkspace

workspaces = APIRouter(prefix="/api", tags=["workspaces"], responses=ERRORS)
sites = APIRouter(prefix="/api/workspaces/{workspace}", tags=["sites"], responses=ERRORS)

_UNSAFE: Final = re.compile(r"[^\w.() -]")
_LONGEST_NAME: Final = 200
AColumn = Annotated[str | None, Query(max_length=500, description="The column, if it has no common name.")]
ledger_routes = APIRouter(prefix="/api/ledger", tags=["ledger"], responses=ERRORS)


@workspaces.get("/about")
def about(studio: AStudio) -> answers.AboutAnswer:
    """Return the version, the limits, the formats that are read and the examples."""
    return answers.AboutAnswer(
        version=__version__,
        studio=1,
        limits=answers.LimitsAnswer(upload_bytes=UPLOAD_BYTES),
        formats=[*FORMATS, "mechanism"],
        examples=[
            answers.ExampleAnswer.model_validate({"key": key, "kind": kind, "title": title, "sentence": sentence})
            for key, (kind, title, sentence) in EXAMPLES.items()
        ],
        ledger=studio.ledger is not None,
        basemap=studio.basemap is not None,
    )


@workspaces.get("/workspaces")
def list_all(studio: AStudio) -> answers.WorkspacesAnswer:
    """List all workspaces, the last changed first."""
    rows = ({**row, "kind": (row["data"] or {}).get("kind")} for row in studio.store.workspaces())
    return answers.WorkspacesAnswer(workspaces=[answers.WorkspaceBriefAnswer.model_validate(row) for row in rows])


@workspaces.post("/workspaces", status_code=201)
def begin(studio: AStudio) -> answers.WorkspaceAnswer:
    """Begin a new workspace."""
    return workspace_answer(studio, studio.store.make_workspace()["id"])


@workspaces.get("/workspaces/{workspace}")
def show(studio: AStudio, workspace: AWorkspace) -> answers.WorkspaceAnswer:
    """Return all that a page shows of a workspace."""
    return workspace_answer(studio, workspace["id"])


@workspaces.patch("/workspaces/{workspace}")
def change(studio: AStudio, workspace: AWorkspace, change: ChangeBody) -> answers.WorkspaceAnswer:
    """Change the title, or what the page keeps for itself."""
    values: dict[str, Any] = {}
    if change.title is not None:
        values["title"] = change.title
    if change.view is not None:
        if len(json.dumps(change.view)) > VIEW_BYTES:
            most = f"The view is larger than {VIEW_BYTES // 1024} kB."
            raise RefusedError(413, most, "keep less in it.", "view")
        values["view"] = change.view
    if values:
        studio.store.change_workspace(workspace["id"], **values)
    return workspace_answer(studio, workspace["id"])


@workspaces.delete("/workspaces/{workspace}", status_code=204, response_model=None)
def delete(studio: AStudio, workspace: AWorkspace) -> None:
    """Delete a workspace with all that is in it."""
    studio.delete(workspace["id"])


@workspaces.post("/workspaces/{workspace}/example")
def fill(studio: AStudio, workspace: AWorkspace, choice: ExampleBody) -> answers.WorkspaceAnswer:
    """Fill a workspace with an example; its designs and jobs are dropped."""
    data = example_data(choice.example)
    studio.start_over(workspace["id"], data=data, site=None, outline=None, title=data["title"])
    return workspace_answer(studio, workspace["id"])


@workspaces.put("/workspaces/{workspace}/file", openapi_extra=BODY)
async def upload(
    studio: AStudio,
    workspace: AWorkspace,
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=200, description="The name of the file.")],
    kind: Annotated[
        Literal["places", "values"] | None, Query(alias="as", description="Left out, the content decides.")
    ] = None,
    lat: AColumn = None,
    lon: AColumn = None,
    user: AColumn = None,
) -> answers.WorkspaceAnswer:
    """Fill a workspace with a file of data or a mechanism; its designs and jobs are dropped.

    The body is the file as it is.
    """
    folder = studio.store.files(workspace["id"]) / "upload" / secrets.token_hex(8)
    path = folder / safe_name(name)
    await run_in_threadpool(folder.mkdir, mode=0o700, parents=True)
    try:
        with open(path, "xb", opener=_open_private) as file:
            async for block in request.stream():
                file.write(block)
        options = {"path": str(path), "kind": kind, "lat": lat, "lon": lon, "user": user}
        await run_in_threadpool(studio.fill, workspace["id"], options)
    finally:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)
    row = await run_in_threadpool(studio.store.workspace, workspace["id"])
    if row["site"] is not None:
        await run_in_threadpool(studio.begin, row)
    return await run_in_threadpool(workspace_answer, studio, workspace["id"])


@sites.put("/site")
def choose_site(
    studio: AStudio,
    workspace: AWorkspace,
    site: Annotated[PlacesSiteBody | ValuesSiteBody, Body(discriminator="kind")],
) -> answers.WorkspaceAnswer:
    """Choose the places or values; designs and jobs are dropped."""
    if workspace["data"] is None:
        raise RefusedError(409, "There are no data yet.", "choose an example, or drop a file.")
    if workspace["data"]["source"] == "mechanism":
        raise RefusedError(409, "A mechanism file has its own places or values.", "drop data to choose others.")
    body = site.model_dump()
    domain_of(workspace["data"], body, studio.store.files(workspace["id"]))  # before anything is dropped
    studio.start_over(workspace["id"], site=body)
    studio.begin(studio.store.workspace(workspace["id"]))
    return workspace_answer(studio, workspace["id"])


@sites.get("/values")
def show_values(studio: AStudio, workspace: AWorkspace) -> answers.ValuesAnswer:
    """Return the values of the column, with how often each occurs."""
    domain = studio.domain(workspace)
    if domain.places:
        raise RefusedError(409, "The data are places.", "see /map.")
    rows = zip(domain.space.labels, domain.counts.tolist(), domain.prior.probabilities.tolist(), strict=True)
    return answers.ValuesAnswer(
        values=[
            answers.ValueAnswer(index=index, label=str(label), count=count, share=share)
            for index, (label, count, share) in enumerate(rows)
        ]
    )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def safe_name(name: str) -> str:
    """Return the name of a file without what could lead elsewhere, in no more bytes than any disk takes."""
    bare = _UNSAFE.sub("_", Path(name.replace("\\", "/")).name).strip(". ") or "file"
    return bare[-100:].encode()[-_LONGEST_NAME:].decode(errors="ignore")


@ledger_routes.get("")
def budgets(studio: AStudio) -> answers.LedgerAnswer:
    """Return the spending of each day, the users near their limit, and who would be refused."""
    if studio.ledger is None:
        raise RefusedError(404, "The studio was started without a ledger.", "start it with --ledger ADDRESS.")
    facts = studio.ledger.budgets()
    content = asdict(facts) | {"sentences": list(spending_words(facts))}
    for row in (*content["days"], *content["classes"], *content["near"]):
        texts = {f"{name}_text": amount_text(row[name], facts.unit) for name in ("spent", "left") if name in row}
        row.update(texts, spent=float(row["spent"]))
    for row in content["classes"]:
        row["share"] = row["users"] / max(1, facts.users)
    return answers.LedgerAnswer.model_validate(content)
