"""``sfumato sign`` and ``sfumato verify``: signatures of mechanism files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from ..messages import say


def sign(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm).")],
    key: Annotated[Path, typer.Option(help="The Ed25519 private key: PEM, or of 'ssh-keygen -t ed25519'.")],
) -> None:
    """Sign mechanism files.

    Writes FILE.sig next to each; keep the two together. Others check it with 'sfumato verify', or with
    'sfumato release --require-signature'. They need the public key, from you and not from where the file is.
    A signature shows who signed, and that the file is unchanged. 'sfumato audit' proves its guarantees.
    """
    from ...files import read_mechanism_file
    from ...files import sign as sign_file

    @cache
    def password() -> str:
        return str(typer.prompt(f"Password of {key}", hide_input=True, err=True))

    for file in files:
        read_mechanism_file(file)
    for file in files:
        fingerprint = sign_file(file, key, password=password)
        say(f"Written: {file}.sig (key {fingerprint})")


def verify(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm), each with its FILE.sig.")],
    key: Annotated[Path, typer.Option(help="The Ed25519 public key: PEM, or such as team.pub of ssh-keygen.")],
) -> None:
    """Check who signed mechanism files.

    Exit code 1 at the first file that is not signed with the key. 'sfumato audit' proves its guarantees.
    """
    from ...files import verify as verify_file

    for file in files:
        fingerprint = verify_file(file, key)
        say(f"{file} is signed with the key {fingerprint}, and unchanged.")
