"""All papers that can be reproduced, by their names at the command line."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from sfumato.errors import InputError

from .paper import Paper

NAMES: Final = (
    "privacy-games",
    "mipan",
    "distribution-privacy",
    "change-in-formalism",
    "introductory",
    "follow-ups",
    "wild",
    "repeated-releases",
)
"""In the order of the docs."""


def paper_of(name: str) -> Paper:
    """Return the paper of a name.

    Raises:
        InputError: If there is none.
    """
    if name not in NAMES:
        raise InputError(f"there is no study {name!r}.", f"the studies are {', '.join(NAMES)}.")
    found: Paper = import_module(f"..{name.replace('-', '_')}.paper", __package__).PAPER
    return found
