"""``sfumato audit``: prove again, from the integers alone, what a mechanism file promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .console import print_summary


def audit(file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm).")]) -> None:
    """Prove what a mechanism file promises, from its integers.

    Nothing that the file claims of itself is believed, and nothing of how it was made is
    used; its prior, loss and metrics are taken as given. Exit code 1 if a promise is not
    proved, or if there is none.
    """
    from ..core import DistortionPrivacy, Prior
    from ..evidence import prove
    from ..files import read
    from ..report import audited

    held = read(file)
    if held.prior is None and any(isinstance(promise, DistortionPrivacy) for promise in held.guarantees):
        raise InputError(
            "the file promises distortion privacy but holds no prior, and without one it means nothing.",
            "write the file again with its prior.",
        )
    prior = held.prior or Prior.uniform(held.mechanism.secrets)  # metric privacy needs none
    epsilons, distortions = prove(held.mechanism, prior, held.guarantees)
    print_summary(audited(held, epsilons, distortions))
    proved = [proof.holds for proof in epsilons] + [proof.holds for proof in distortions]
    if not proved or not all(proved):
        raise typer.Exit(1)
