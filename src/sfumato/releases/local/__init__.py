"""The local engine of releases: streams of batches, drawn on every core, kept part by part."""

from .engine import Engine, RowsDone, Tally
from .people import all_users, counted
from .records import keep_record, times_before
from .sources import AnySource, Identity, identity, opened
from .workplace import DrawnPart, Workplace, unwritable

__all__ = [
    "AnySource",
    "DrawnPart",
    "Engine",
    "Identity",
    "RowsDone",
    "Tally",
    "Workplace",
    "all_users",
    "counted",
    "identity",
    "keep_record",
    "opened",
    "times_before",
    "unwritable",
]
