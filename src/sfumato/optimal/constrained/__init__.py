"""General programs: linear constraints of one's own, several attackers, several priors."""

from .answer import back_ends, general_answer
from .demands import Demands
from .search import Searched, searched

__all__ = ["Demands", "Searched", "back_ends", "general_answer", "searched"]
