"""The kernel of every release, with what it is asked for and what passes through it."""

from .batches import Located, PrivateBatch
from .kernel import Kernel
from .wishes import OUTSIDE, WITHIN, Outside, Wishes

__all__ = ["OUTSIDE", "WITHIN", "Kernel", "Located", "Outside", "PrivateBatch", "Wishes"]
