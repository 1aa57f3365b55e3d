"""The mechanism file (.sfm): written, read back and checked; and matrices and tables of other programs."""

from .matrix import export_table, read_matrix
from .mechanism_file import MechanismFile, load, load_tupling, read_mechanism_file, save

__all__ = ["MechanismFile", "export_table", "load", "load_tupling", "read_matrix", "read_mechanism_file", "save"]
