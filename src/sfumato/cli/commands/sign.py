"""``sfumato sign``: a signature for mechanism files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from ..messages import say


def command(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm).")],
    key: Annotated[
        Path, typer.Option(help="The Ed25519 private key: PEM, or a file of 'ssh-keygen -t ed25519 -f team'.")
    ],
) -> None:
    """Sign mechanism files.

    Writes FILE.sig next to each: keep the two together. Others check it with 'sfumato verify', or with 'sfumato
    release --require-signature' before anything is drawn; they need the public key, from you and not from where
    the file is. A signature shows who signed, and that the file is unchanged. It does not show that its promises
    hold: 'sfumato audit' proves them.
    """
    from ...files import read_mechanism_file, sign

    @cache
    def password() -> str:
        return str(typer.prompt(f"Password of {key}", hide_input=True, err=True))

    for file in files:
        read_mechanism_file(file)
    for file in files:
        fingerprint = sign(file, key, password=password)
        say(f"Written: {file}.sig (key {fingerprint})")
