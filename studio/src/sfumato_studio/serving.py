"""HTTP server of the studio, on 127.0.0.1 only."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI

from sfumato.errors import DataError, InputError, argument
from sfumato.ledgers import Ledger

from .app import make_app
from .errors import RefusedError
from .guard import Key
from .routes.maps import check_basemap

HOST = "127.0.0.1"
_PATIENCE_S: Final = 2  # for requests that are being answered when the studio stops


def serve(
    folder: Path,
    *,
    port: int = 0,
    show: bool = True,
    file: Path | None = None,
    ledger: Ledger | None = None,
    basemap: Path | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Run the studio until it is interrupted.

    Args:
        folder: Where workspaces are kept.
        port: The port on 127.0.0.1; 0 for any that is free.
        show: Whether to open the page in a browser.
        file: Data or a mechanism to open in a new workspace.
        ledger: The ledger whose budgets are shown.
        basemap: The PMTiles file on which maps are drawn.
        ready: Called with the address once the port is open.

    Raises:
        InputError: If the port is taken, or the basemap cannot be drawn.
        DataError: If the file cannot be read.
        FileError: If the folder cannot be used.
    """
    basemap = None if basemap is None else check_basemap(basemap)
    listener = _bound(port)
    key = Key(secrets.token_urlsafe(32), listener.getsockname()[1])
    try:
        app = make_app(folder, key, ledger, basemap)
        app.state.studio.warm_up()
        if file is not None:
            try:
                key.start = f"#workspace={app.state.studio.open(file)}"
            except RefusedError as error:
                app.state.studio.close()
                raise DataError(error.message, error.hint) from None
        server = server_of(app)
        address = f"http://{HOST}:{key.port}/?token={key.token}"
        if ready is not None:
            ready(address)
        if show:
            webbrowser.open(address)
        server.run(sockets=[listener])
    finally:
        listener.close()


class _Server(uvicorn.Server):
    """Server that cancels late requests by itself when it stops: uvicorn's own timeout prints errors."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the server; requests have some seconds to end."""
        tasks = self.server_state.tasks
        late = asyncio.get_running_loop().call_later(_PATIENCE_S, lambda: [task.cancel() for task in tasks])
        await super().shutdown(sockets)
        late.cancel()


def server_of(app: FastAPI) -> uvicorn.Server:
    """Return a server that stops soon, even where a page waits for a report."""
    return _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2 * _PATIENCE_S,  # for a client that does not read its answer
        )
    )


def _bound(port: int) -> socket.socket:
    """Return a socket that listens on this machine only."""
    listener = socket.socket(
        socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # by its name: asyncio then sends at once
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(
            f"the port {port} cannot be used ({getattr(error, 'strerror', None) or error}).",
            f"choose another with {argument('port', 8765)}, or leave it out for any that is free.",
        ) from None
    return listener
