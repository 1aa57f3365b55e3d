"""Derivations: what a claim implies about another notion, by the strongest chain of implications."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import DistortionPrivacy, MetricPrivacy
from ...errors import InputError
from ..notion import Finding
from ..vocabulary import described
from .catalogue import SEPARATIONS
from .claims import Claim
from .edge import Edge, Goal, Refusal
from .edges import ATLAS

_LONGEST = 6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivation:
    """A claim that follows from another one, and why.

    Attributes:
        start: The claim that was given.
        claim: The claim that follows.
        edges: The implications, in order; empty if the claim was given already.
        steps: What each implication gives, as many as there are edges.
    """

    start: Claim
    claim: Claim
    edges: tuple[Edge, ...]
    steps: tuple[Claim, ...]

    @property
    def reasons(self) -> list[str]:
        """One sentence for each implication, and for what was left out at the end."""
        found = [f"{edge.sentence} Here: {step}." for edge, step in zip(self.edges, self.steps, strict=True)]
        last = self.steps[-1] if self.steps else self.start
        if not self.claim.implies(last):
            found.append(f"This covers what was asked: {self.claim}.")
        return [text[0].upper() + text[1:] for text in found]

    def __len__(self) -> int:
        """The number of implications."""
        return len(self.edges)

    def __str__(self) -> str:
        given = f"Given: {self.start}."
        return "\n".join([given, *self.reasons, f"In words: {self.claim.sentence}"])

    def __repr__(self) -> str:
        names = " -> ".join(edge.name for edge in self.edges)
        return f"Derivation of {self.claim}{f' by {names}' if names else ''}"


def convert(given: Claim | MetricPrivacy | DistortionPrivacy | Finding, to: str, **wanted: object) -> Derivation:
    """Return the strongest claim of another notion that follows, with the chain of reasons.

    Numbers are upper limits: with ``delta=1e-6`` the least epsilon at that delta is
    sought, with ``epsilon=1`` the least delta. Where several numbers stay open, the least
    delta comes first. All values are rounded up (a distortion down).

    Args:
        given: A claim, a guarantee, or a finding, which counts with its proved value.
        to: The key of the notion, such as ``"kl-privacy"``.
        **wanted: Numbers and context of the claim that is sought, such as
            ``relation=``, ``metric=``, ``priors=`` or ``order=``.

    Raises:
        InputError: If no chain of implications is known; the message says what would
            help, or that a counterexample is known.

    Example:
        >>> from sfumato.privacy.atlas.claims import Claim
        >>> from sfumato.privacy.atlas.convert import convert
        >>> chain = convert(Claim("differential-privacy", epsilon=1.0), to="kl-privacy")
        >>> print(chain.claim)
        KL privacy with epsilon 0.462118, of any two secrets
        >>> convert(Claim("gaussian", mu=1.0), to="differential-privacy", epsilon=1.0)
        Derivation of differential privacy with epsilon 1, delta 0.126937, of any two secrets by gaussian-to-dp
    """
    start = Claim.of(given)
    goal = _goal(to, wanted)
    chains, refusals = _reachable(start, goal)
    fitting = [chain for chain in chains if chain.claim.notion == to and chain.claim.meets(goal.given)]
    if not fitting:
        raise _no_chain(start, goal, refusals)
    best = min(fitting, key=lambda chain: _order(chain, goal))
    context = {name: value for name, value in goal.given.items() if name in best.claim.context}
    return Derivation(start, best.claim.with_values(**context), best.edges, best.steps)


def _goal(to: str, wanted: dict[str, object]) -> Goal:
    names = Claim.names(to)
    for name, value in wanted.items():
        if name not in names:
            raise InputError(
                f"{described(to).title} has no parameter {name!r}.", f"its parameters are {', '.join(names)}."
            )
        if name in described(to).numbers and not (isinstance(value, int | float) and value >= 0):
            raise InputError(f"{name} was given as {value!r}.", "pass a number of at least 0.")
    return Goal(to, {name: value for name, value in wanted.items() if value is not None})


def _reachable(start: Claim, goal: Goal) -> tuple[list[Derivation], list[tuple[Edge, Refusal]]]:
    """Return the chains from a claim, shortest first, without claims that others already include."""
    chains = [Derivation(start, start, (), ())]
    frontier = list(chains)
    refusals = []
    for _ in range(_LONGEST):
        grown = []
        for chain in frontier:
            for edge in ATLAS:
                if edge.start != chain.claim.notion:
                    continue
                implied = edge.follow(chain.claim, goal)
                if isinstance(implied, Refusal):
                    refusals.append((edge, implied))
                elif not any(other.claim.implies(implied) for other in chains):
                    following = Derivation(start, implied, (*chain.edges, edge), (*chain.steps, implied))
                    chains.append(following)
                    grown.append(following)
        frontier = grown
    return chains, refusals


def _order(chain: Derivation, goal: Goal) -> tuple[float, ...]:
    """Return what to compare chains by: open numbers, delta first; then those with a limit; then length."""
    numbers = sorted(chain.claim.numbers.items(), key=lambda item: (item[0] in goal.given, item[0] != "delta"))
    sign = -1 if described(chain.claim.notion).larger_hides else 1
    return (*(sign * value for _, value in numbers), len(chain))


def _no_chain(start: Claim, goal: Goal, refusals: list[tuple[Edge, Refusal]]) -> InputError:
    end = described(goal.notion)
    problem = f"no implication is known from {start} to {end.title}{' as asked' if goal.given else ''}."
    missing = [f"{edge.name}: {refusal.missing}" for edge, refusal in refusals if edge.end == goal.notion]
    missing += [f"{edge.name}: {refusal.missing}" for edge, refusal in refusals if edge.end != goal.notion]
    hints = []
    separation = SEPARATIONS.get((start.notion, goal.notion))
    if separation is not None:
        hints.append(f"a counterexample is known: {separation}")
    if missing:
        hints.append("what was missing: " + "; ".join(list(dict.fromkeys(missing))[:4]))
    return InputError(
        problem, ". ".join(hints) + "." if hints else "measure the mechanism under the notion itself."
    )
