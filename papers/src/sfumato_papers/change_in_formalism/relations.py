"""All relations of the section, in groups that are tried apart."""

from __future__ import annotations

from typing import Final

from .relation import FormalRelation
from .relations_membership import MEMBERSHIP
from .relations_noiseless import NOISELESS
from .relations_records import RECORDS
from .relations_tests import TESTS

GROUPS: Final[dict[str, tuple[FormalRelation, ...]]] = {
    "tests": TESTS,
    "beliefs": (*MEMBERSHIP, *NOISELESS),
    "records": RECORDS,
}
"""By name, in the order of the thesis."""
