"""``sfumato verify``: whether mechanism files are signed with a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..messages import say


def command(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm), each with its FILE.sig.")],
    key: Annotated[Path, typer.Option(help="The Ed25519 public key: PEM, or such as team.pub of ssh-keygen.")],
) -> None:
    """Check who signed mechanism files.

    Ends with exit code 1 at the first that is not. A signature does not show that the promises of a file hold:
    'sfumato audit' proves them.
    """
    from ...files import verify

    for file in files:
        fingerprint = verify(file, key)
        say(f"{file} is signed with the key {fingerprint}, and unchanged.")
