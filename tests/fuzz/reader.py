"""The description of a reader to be fuzzed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from random import Random

Case = dict[str, bytes]
"""An input: the content of files by name."""


class Reader(ABC):
    """A reader with honest inputs to change, and what must hold of whatever it accepts.

    Args:
        folder: A folder in which honest inputs are made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def case(self, rng: Random) -> Case:
        """Return an input that was changed in some way."""

    @abstractmethod
    def read(self, folder: Path) -> None:
        """Read an input that lies in a folder, and check what was accepted.

        Raises:
            SfumatoError: If it is refused.
            AssertionError: If it is accepted wrongly.
        """
