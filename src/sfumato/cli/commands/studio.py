"""``sfumato studio``: a page on this machine on which people choose a mechanism."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ...errors import MissingCompanionError
from ..messages import say


def command(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes one that is free.", min=0, max=65535)] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    folder: Annotated[
        Path | None, typer.Option(help="Where workspaces are kept; by default a folder of this user.")
    ] = None,
) -> None:
    """Open a page on which a mechanism is chosen by its outcome.

    There it can be tried out and attacked, too. The page is for this machine and this user alone: its address
    holds a token. Data stay here. Ctrl-C ends it.
    """
    if find_spec("sfumato_studio") is None:
        raise MissingCompanionError("`sfumato studio`", "sfumato-studio")
    from sfumato_studio.serving import serve

    def ready(address: str) -> None:
        say(f"The studio is at {address}")
        say("Keep this address to yourself; Ctrl-C ends the studio.")
        sys.stdout.flush()

    serve(folder or _own_folder(), port=port, show=show, ready=ready)


def _own_folder() -> Path:
    """Return where this user's workspaces are kept."""
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "share") / "sfumato" / "studio"
