"""Reproduction: resumable parts of a paper's study, judged claims, and a folder of results."""

from .claim import Judgement, PaperClaim, counts, follows, illustrates, judged, ours, unchecked
from .interval import interval
from .paper import SECONDS, Equation, Made, Paper, Setting, StudyPart
from .papers import NAMES, paper_of
from .run import Reproduction, run
from .tables import RunTables
from .words import claim_words, paper_words

__all__ = [
    "NAMES",
    "SECONDS",
    "Equation",
    "Judgement",
    "Made",
    "Paper",
    "PaperClaim",
    "Reproduction",
    "RunTables",
    "Setting",
    "StudyPart",
    "claim_words",
    "counts",
    "follows",
    "illustrates",
    "interval",
    "judged",
    "ours",
    "paper_of",
    "paper_words",
    "run",
    "unchecked",
]
