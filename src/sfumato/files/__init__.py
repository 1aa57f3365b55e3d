"""The mechanism file (.sfm): written, read back and checked; and the table for other programs."""

from .matrix import read_matrix
from .mechanism_file import MechanismFile, load, load_tupling, read, save
from .table import export_table

__all__ = ["MechanismFile", "export_table", "load", "load_tupling", "read", "read_matrix", "save"]
