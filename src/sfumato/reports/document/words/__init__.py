"""The text of reports: from facts to sentences, and nothing else."""

from .attack import attack_headings, attack_rows, attack_words, requirement_words, risk_words
from .cost import cost_words, frontier_caption, frontier_headings, frontier_rows, frontier_words
from .limits import file_words, limit_words, prior_formal, prior_words
from .promise import belief_caption, belief_rows, constraint_item, constraint_words, promise_words
from .subject import framed, lead_words, nouns_of, subject_words

__all__ = [
    "attack_headings",
    "attack_rows",
    "attack_words",
    "belief_caption",
    "belief_rows",
    "constraint_item",
    "constraint_words",
    "cost_words",
    "file_words",
    "framed",
    "frontier_caption",
    "frontier_headings",
    "frontier_rows",
    "frontier_words",
    "lead_words",
    "limit_words",
    "nouns_of",
    "prior_formal",
    "prior_words",
    "promise_words",
    "requirement_words",
    "risk_words",
    "subject_words",
]
