"""Dependencies of routes: the studio, the workspace of the path and the design of the query; their errors."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Depends, Path, Query, Request

from ..answers import ErrorAnswer
from ..requests import Identity, LevelIndex
from ..state import Studio
from ..store import Row

ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": ErrorAnswer, "description": "The request cannot be read."},
    403: {"model": ErrorAnswer, "description": "The token is missing, or another page sent the request."},
    404: {"model": ErrorAnswer, "description": "There is no such thing."},
    405: {"model": ErrorAnswer, "description": "This cannot be done here."},
    409: {"model": ErrorAnswer, "description": "Not now: something has to come first."},
    413: {"model": ErrorAnswer, "description": "Too large."},
    422: {"model": ErrorAnswer, "description": "What was sent cannot be used; the error says why and what can."},
    429: {"model": ErrorAnswer, "description": "Too many at once."},
    500: {"model": ErrorAnswer, "description": "Something went wrong that was not foreseen."},
}
"""The errors of every route."""

BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""The description of a body that is a file as it is."""


def studio_of(request: Request) -> Studio:
    """Return the studio."""
    studio: Studio = request.app.state.studio
    return studio


def workspace_of(
    studio: Annotated[Studio, Depends(studio_of)],
    workspace: Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The id of a workspace.")],
) -> Row:
    """Return the workspace that the path names."""
    return studio.store.workspace(workspace)


AStudio = Annotated[Studio, Depends(studio_of)]
AWorkspace = Annotated[Row, Depends(workspace_of)]


def design_of(
    studio: AStudio,
    workspace: AWorkspace,
    level: Annotated[LevelIndex | None, Query(description="Of the slider, 0 for the least private.")] = None,
    design: Annotated[Identity | None, Query(description="Instead of a level: the id of a design.")] = None,
) -> Row:
    """Return the design that the query names, or that its level shows."""
    return studio.row(workspace, level, design)


AShown = Annotated[Row, Depends(design_of)]
ADesignId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="The id of a design.")]
AJobId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="The id of a job.")]
