"""The local engine of releases: streams of batches, drawn on every core, kept part by part."""

from .engine import Engine, RowsDone, Tally, cores
from .people import counted
from .records import check_released, keep_record, same_mechanism, times_before
from .sources import AnySource, Identity, identity, opened, unreadable
from .workplace import DrawnPart, Workplace, unwritable

__all__ = [
    "AnySource",
    "DrawnPart",
    "Engine",
    "Identity",
    "RowsDone",
    "Tally",
    "Workplace",
    "check_released",
    "cores",
    "counted",
    "identity",
    "keep_record",
    "opened",
    "same_mechanism",
    "times_before",
    "unreadable",
    "unwritable",
]
