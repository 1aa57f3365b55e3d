"""FastAPI application: routes, errors and the files of the page.

``python -m sfumato_studio.app studio/web/openapi.json`` writes its OpenAPI description.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from sfumato._version import __version__
from sfumato.errors import SfumatoError
from sfumato.ledgers import Ledger

from .errors import RefusedError, error_body, refusal_of
from .guard import Guard, Key
from .routes.designs import designs, job_routes
from .routes.levels import levels, plays
from .routes.maps import maps, world_map
from .routes.workspaces import ledger_routes, sites, workspaces
from .state import Studio

PAGE: Final = Path(__file__).parent / "page"  # where the built page lies
_NO_PAGE: Final = (
    "The studio runs, but its page is not in this installation.\n"
    "Its interface is described at /api/openapi.json, and scripts can use it.\n"
)
_ABOUT: Final = (
    "The interface behind the page of the studio. It is for this machine only: every request needs the token of "
    "the run, as the cookie that the first address sets, or in the header X-Sfumato-Token."
)
_STATUS: Final = {
    400: ("The request cannot be read.", "send what the interface describes at /api/openapi.json."),
    404: ("There is no such thing here.", "load the page again; it may have been deleted."),
    405: ("This cannot be done here.", "see /api/openapi.json."),
    413: ("The file is too large.", "use a smaller one: some of the rows are enough to try things out."),
}


def make_app(folder: Path, key: Key, ledger: Ledger | None = None, basemap: Path | None = None) -> FastAPI:
    """Return the application."""
    studio = Studio(folder, ledger, basemap)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.close()

    app = describe()
    app.router.lifespan_context = lifespan
    app.state.studio = studio
    app.add_middleware(Guard, key=key)
    return app


def describe() -> FastAPI:
    """Return the application without a studio: its routes and their description."""
    app = FastAPI(
        title="sfumato studio",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_route_name,
    )
    _handle_errors(app)
    for router in (workspaces, sites, maps, levels, plays, designs, job_routes, ledger_routes, world_map):
        app.include_router(router)
    if (PAGE / "assets").is_dir():
        app.mount("/assets", GZipMiddleware(StaticFiles(directory=PAGE / "assets")), name="assets")

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        index = PAGE / "index.html"
        return FileResponse(index) if index.is_file() else PlainTextResponse(_NO_PAGE)

    return app


def _route_name(route: APIRoute) -> str:
    """Return the name of a route for clients that are generated: its room and its function."""
    return f"{route.tags[0]}_{route.name}" if route.tags else route.name


def _handle_errors(app: FastAPI) -> None:
    """Answer all errors of an application in one form."""

    async def answer(_: Request, error: Exception) -> JSONResponse:
        refusal = _refusal(error)
        headers = error.headers if isinstance(error, HTTPException) else None
        return JSONResponse(error_body(refusal), refusal.status, headers=dict(headers) if headers else None)

    for kind in (RefusedError, SfumatoError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _refusal(error: Exception) -> RefusedError:
    """Return an error as one that the page can show."""
    if isinstance(error, HTTPException):
        return RefusedError(error.status_code, *_STATUS.get(error.status_code, ("The request was refused.", "")))
    if not isinstance(error, RequestValidationError):
        return refusal_of(error)
    first: Any = error.errors()[0]
    field = ".".join(str(part) for part in first.get("loc", ()) if part not in ("body", "query", "path"))
    message = str(first.get("msg", "it cannot be read")).removeprefix("Value error, ")
    problem = f"{field}: {message}" if field else message
    return RefusedError(422, problem, "send what /api/openapi.json describes.", field)


def schema_text() -> str:
    """Return the description of the interface as JSON."""
    return json.dumps(describe().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
