"""Adversaries: who sees the report, guesses the secret, and errs by so much."""

from .attack import Attack, Minimax, evaluate
from .bayesian import bayes
from .blind import blind
from .misinformed import misinformed
from .optimal import optimal
from .prior_free import per_guess, prior_free, unweighted

__all__ = [
    "Attack",
    "Minimax",
    "bayes",
    "blind",
    "evaluate",
    "misinformed",
    "optimal",
    "per_guess",
    "prior_free",
    "unweighted",
]
