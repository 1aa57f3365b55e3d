"""The local engine of releases: streams of batches, drawn on every core, kept part by part."""

from .engine import Engine, RowsDone, Tally, cores
from .people import counted, of_one
from .records import check_released, keep_record, releases_before, same_mechanism, times_before
from .sources import AnySource, Identity, check_table, identity, opened, unreadable
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
    "check_table",
    "cores",
    "counted",
    "identity",
    "keep_record",
    "of_one",
    "opened",
    "releases_before",
    "same_mechanism",
    "times_before",
    "unreadable",
    "unwritable",
]
