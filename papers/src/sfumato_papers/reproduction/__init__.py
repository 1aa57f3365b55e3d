"""Reproduction: resumable parts of a paper's study, judged claims, and a folder of results."""

from ..results import RunTables, interval
from .page import claim_words, paper_words
from .paper import (
    NAMES,
    SECONDS,
    Equation,
    Judgement,
    Paper,
    PaperClaim,
    Setting,
    StudyPart,
    Tables,
    abstain,
    counts,
    equations,
    follows,
    illustrates,
    judge,
    paper_of,
    remark,
)
from .run import Reproduction, run

__all__ = [
    "NAMES",
    "SECONDS",
    "Equation",
    "Judgement",
    "Paper",
    "PaperClaim",
    "Reproduction",
    "RunTables",
    "Setting",
    "StudyPart",
    "Tables",
    "abstain",
    "claim_words",
    "counts",
    "equations",
    "follows",
    "illustrates",
    "interval",
    "judge",
    "paper_of",
    "paper_words",
    "remark",
    "run",
]
