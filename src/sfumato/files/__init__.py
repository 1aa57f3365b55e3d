"""The mechanism file (.sfm): written, read back and checked; and matrices and tables of other programs."""

from .matrix import export_table, read_matrix
from .mechanism_file import MechanismFile, load, load_tupling, read_any, read_mechanism_file, save
from .noise_file import NoiseFile

__all__ = [
    "MechanismFile",
    "NoiseFile",
    "export_table",
    "load",
    "load_tupling",
    "read_any",
    "read_matrix",
    "read_mechanism_file",
    "save",
]
