"""Priors that attackers may hold: one, several, an interval of the fact's probability, or any."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import Prior
from ...errors import InputError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Priors:
    """A set Theta of priors against which a notion must hold.

    A prior says two things about a fact: how probable it is, and how the secrets are
    distributed where it is true and where it is false. Either may be left open.

    Attributes:
        listed: The priors that say how the secrets are distributed; empty if any may.
        interval: The least and largest prior probability of the fact; None if it is
            that of the listed priors. The ends 0 and 1 stand for limits.

    Example:
        >>> import sfumato as sf
        >>> space = sf.Space("ab")
        >>> Priors.of(sf.Prior.uniform(space)), Priors.all(), Priors.between(0.25, 0.75)
        (Priors(the given prior), Priors(every prior), Priors(every prior that gives the fact 0.25 to 0.75))
    """

    listed: tuple[Prior, ...]
    interval: tuple[float, float] | None

    def __init__(self, listed: tuple[Prior, ...], interval: tuple[float, float] | None) -> None:
        if not listed and interval is None:
            raise InputError("no prior was given.", "pass at least one prior, or use Priors.all().")
        if interval is not None and not 0 <= interval[0] <= interval[1] <= 1:
            raise InputError(
                f"{interval[0]} to {interval[1]} is not an interval of probabilities.",
                "pass 0 <= low <= high <= 1.",
            )
        object.__setattr__(self, "listed", listed)
        object.__setattr__(self, "interval", interval)

    @classmethod
    def of(cls, *priors: Prior) -> Priors:
        """Return the set of the given priors."""
        return cls(priors, None)

    @classmethod
    def between(cls, low: float, high: float, *given: Prior) -> Priors:
        """Return the priors that give each fact a probability from ``low`` to ``high``.

        Args:
            low: The least prior probability of the fact.
            high: The largest.
            *given: Priors that fix the distribution of the secrets where the fact is
                true and where it is false; without them it may be any.

        Source:
            Tramer, Huang, Ayday and Hubaux, CCS 2015 (bounded priors).
        """
        return cls(given, (low, high))

    @classmethod
    def all(cls) -> Priors:
        """Return the set of all priors."""
        return cls((), (0.0, 1.0))

    def __repr__(self) -> str:
        return f"Priors({self})"

    def __str__(self) -> str:
        if self.interval is None:
            return "the given prior" if len(self.listed) == 1 else f"each of {len(self.listed)} given priors"
        low, high = self.interval
        if not self.listed and (low, high) == (0, 1):
            return "every prior"
        fact = f"that gives the fact {low:g} to {high:g}"
        if not self.listed:
            return f"every prior {fact}"
        return (
            f"every prior {fact} and is otherwise {'as given' if len(self.listed) == 1 else 'one of those given'}"
        )
