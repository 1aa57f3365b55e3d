"""The readers that are fuzzed, by name."""

from ..reader import Reader
from .arrow import ArrowTables, ParquetTables
from .delimited import TextTables, Tracks
from .designs import FoldersOfDesigns
from .ledgers import JsonLedgers, Ledgers
from .marks import Marks
from .matrices import Matrices
from .mechanisms import MechanismFiles, NoiseFiles
from .words import Commands, Words

READERS: dict[str, type[Reader]] = {
    "mechanisms": MechanismFiles,
    "noise": NoiseFiles,
    "matrices": Matrices,
    "text": TextTables,
    "tracks": Tracks,
    "parquet": ParquetTables,
    "arrow": ArrowTables,
    "marks": Marks,
    "designs": FoldersOfDesigns,
    "ledgers": Ledgers,
    "json-ledgers": JsonLedgers,
    "words": Words,
    "commands": Commands,
}
"""Readers by name."""
