"""The mechanism file (.sfm): written, read back and checked; and matrices and tables of other programs."""

from .grounds import DistanceSource, Yardstick, measured_by, promised_pairs, source_of
from .matrix import export_table, read_matrix
from .measurement import as_opendp
from .mechanism_file import MechanismFile, load, load_tupling, read_any, read_mechanism_file, save
from .noise_file import NoiseFile
from .npy import read_npy
from .signatures import sign, verify

__all__ = [
    "DistanceSource",
    "MechanismFile",
    "NoiseFile",
    "Yardstick",
    "as_opendp",
    "export_table",
    "load",
    "load_tupling",
    "measured_by",
    "promised_pairs",
    "read_any",
    "read_matrix",
    "read_mechanism_file",
    "read_npy",
    "save",
    "sign",
    "source_of",
    "verify",
]
