"""The application: routes, errors, the page's files, and the guard around all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from sfumato._version import __version__

from .failures import handle_failures
from .guard import Guard, Key
from .routes import designs, job_routes, mechanisms, plays, sites, workspaces
from .state import Studio

PAGE: Final = Path(__file__).parent / "page"
"""Where the built page lies."""

_NO_PAGE: Final = (
    "The studio runs, but its page is not in this installation.\n"
    "Its interface is described at /api/openapi.json, and scripts can use it.\n"
)
_ABOUT: Final = (
    "The interface behind the page of the studio. It is for this machine only: every request needs the token of "
    "the run, as the cookie that the first address sets, or in the header X-Sfumato-Token."
)


def make_app(folder: Path, key: Key) -> FastAPI:
    """Return the application.

    Args:
        folder: Where workspaces are kept.
        key: The token and the port.

    Raises:
        FileError: If the folder cannot be used.
    """
    studio = Studio(folder)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.close()

    app = described()
    app.router.lifespan_context = lifespan
    app.state.studio = studio
    app.add_middleware(Guard, key=key)
    return app


def described() -> FastAPI:
    """Return the application without a studio: its routes and their description."""
    app = FastAPI(
        title="sfumato studio",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_named,
    )
    handle_failures(app)
    for router in (workspaces, sites, mechanisms, plays, designs, job_routes):
        app.include_router(router)
    if (PAGE / "assets").is_dir():
        app.mount("/assets", GZipMiddleware(StaticFiles(directory=PAGE / "assets")), name="assets")

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        index = PAGE / "index.html"
        return FileResponse(index) if index.is_file() else PlainTextResponse(_NO_PAGE)

    return app


def _named(route: APIRoute) -> str:
    """Return the name of a route for clients that are generated: its room and its function."""
    return f"{route.tags[0]}_{route.name}" if route.tags else route.name
