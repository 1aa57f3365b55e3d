"""Adversaries: each sees the report, guesses the secret, and errs by an expected amount."""

from .attack import Attack, Minimax, evaluate
from .followed import followed
from .informed import informed, misinformed, told_of_main_places
from .known_prior import Goals, bayes, blind, goals, optimal
from .prior_free import per_guess, prior_free, unweighted
from .true_place import PlaceAttack, true_place
from .within_radius import chance_of_points, chance_within

__all__ = [
    "Attack",
    "Goals",
    "Minimax",
    "PlaceAttack",
    "bayes",
    "blind",
    "chance_of_points",
    "chance_within",
    "evaluate",
    "followed",
    "goals",
    "informed",
    "misinformed",
    "optimal",
    "per_guess",
    "prior_free",
    "told_of_main_places",
    "true_place",
    "unweighted",
]
