"""Example 1: Alice and Bob at two places, and what each choice of the two sides is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..attacks.learned import Confusion
from ..core.arrays import Floats, readonly

GENERATORS: Final = ("truth", "swap", "always a", "always b")
"""What the generator does with Alice's a and Bob's b."""

CLASSIFIERS: Final = ("a is Alice, b is Bob", "a is Bob, b is Alice", "always Alice", "always Bob")
"""What the classifier makes of a report."""

# Reports of Alice and of Bob, and guesses at a and at b; 0 stands for a and for Alice.
_REPORTS = ((0, 1), (1, 0), (0, 0), (1, 1))
_GUESSES = ((0, 1), (1, 0), (0, 0), (1, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Payoffs:
    """What the classifier gets in each of the 16 cases, arrays (generators, classifiers).

    Attributes:
        success: The probability of a right guess. No pair of pure choices is an
            equilibrium that hides nothing less: against truth the classifier answers
            rightly, against that the generator swaps, and so on for ever.
        information_bits: The mutual information of person and guess: to swap gains
            nothing, and to report one place always is a saddle point.
        vulnerability: The chance of the best guess of the person from the guess.
    """

    success: Floats
    information_bits: Floats
    vulnerability: Floats


def payoffs() -> Payoffs:
    """Return the payoff tables of Example 1: two users, equally frequent, at places a and b.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, example 1 and figure 1.

    Example:
        >>> payoffs().success[:2]
        array([[1. , 0. , 0.5, 0.5],
               [0. , 1. , 0.5, 0.5]])
    """
    tables = np.empty((3, len(_REPORTS), len(_GUESSES)))
    for g, reports in enumerate(_REPORTS):
        for c, guesses in enumerate(_GUESSES):
            guessed = np.array([guesses[report] for report in reports])
            found = Confusion.of(np.arange(2), guessed, 2)
            tables[:, g, c] = found.accuracy, found.information_bits, 1 - found.bayes_error
    success, information, vulnerability = (readonly(table) for table in tables)
    return Payoffs(success, information, vulnerability)
