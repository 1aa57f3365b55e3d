"""Derivations of a claim about one notion from a claim about another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...core import DistortionPrivacy, MetricPrivacy
from ...errors import InputError
from ..notion import Finding
from ..vocabulary import VOCABULARY, describe
from .claims import Claim, Edge, Goal, Refusal, Tightness
from .edges import ATLAS

NOTION_KEYS: Final[tuple[str, ...]] = tuple(VOCABULARY)
"""The keys of all notions that claims may be about."""

_LEAK: Final = "reports of probability delta may reveal the secret, and then a fact is certain afterwards"
_RARE: Final = "a rare report may have any likelihood ratio and still weigh little on average"

SEPARATIONS: Final[dict[tuple[str, str], str]] = {
    ("kl-privacy", "differential-privacy"): f"{_RARE}, so that delta = 0 is out of reach",
    ("divergence-privacy", "differential-privacy"): (
        "p = (.98, .02, 0) and q = (.98, 0, .02) have total variation .02 and no finite epsilon"
    ),
    ("gaussian", "indistinguishable"): f"{_RARE}, as under normal noise",
    ("concentrated-privacy", "indistinguishable"): f"{_RARE}, as under normal noise",
    ("differential-privacy", "adversarial"): _LEAK,
    ("differential-privacy", "positive-membership"): _LEAK,
    ("differential-privacy", "membership"): _LEAK,
    ("differential-privacy", "information"): _LEAK,
    ("differential-privacy", "noiseless"): _LEAK,
    ("semantic", "differential-privacy"): (
        "with p(.|s) = (.5, .5) and p(.|default) = (1, 0) the second report gives s away, but no belief can be "
        "formed after the default has made it"
    ),
    ("positive-membership", "negative-membership"): (
        "with p(.|s) = (1, 0) and p(.|s') = (.5, .5) the second report rules s out, but none makes it more than "
        "twice as probable"
    ),
    ("positive-membership", "differential-privacy"): (
        "with p(.|s) = (1, 0), p(.|s') = (.5, .5) and the one fact that the secret is s, the second report "
        "rules s out"
    ),
    ("adversarial", "negative-membership"): "adversarial privacy bounds no probability from below",
    ("information", "differential-privacy"): (
        "a prior that holds a secret impossible says nothing about the reports of that secret"
    ),
    ("noiseless", "differential-privacy"): (
        "a deterministic mechanism that reports the parity of two secret fair bits is noiseless about the first "
        "bit with epsilon 0"
    ),
    ("distribution-privacy", "differential-privacy"): (
        "two distributions may look alike although their secrets do not: for example the uniform "
        "distribution of two of them and of two others under a mechanism that reports who of each two it is"
    ),
    ("probabilistic-differential-privacy", "probabilistic-distribution-privacy"): (
        "the sets of bad reports of different pairs join: with delta = .1 and epsilon = .5 half of (.1, .12, .78) "
        "against (0, .12, .88) and half of an equal pair has a bad report of probability .11"
    ),
}
"""Why some notions do not imply others, each in a clause; tests run the mechanisms."""


def implications(*, start: str | None = None, end: str | None = None) -> tuple[Edge, ...]:
    """Return the implications from a notion, to a notion, or between two, by their keys.

    Raises `InputError` if a key is unknown.

    Example:
        >>> from sfumato.privacy.atlas import implications
        >>> [edge.name for edge in implications(start="bounded-range")]
        ['range-to-dp', 'range-to-zcdp']
    """
    for key in (start, end):
        if key is not None:
            describe(key)
    return tuple(edge for edge in ATLAS if start in (None, edge.start) and end in (None, edge.end))


def table() -> str:
    """Return the Markdown table of the atlas, one implication per line."""
    heads = ("from", "to", "how the values change", "if", "the least?", "source", "proof")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for edge in ATLAS:
        cells = (
            VOCABULARY[edge.start].title,
            VOCABULARY[edge.end].title,
            edge.rule,
            edge.needs or "always",
            f"{'yes' if edge.tightness is Tightness.TIGHT else edge.tightness.value}: {edge.witness}",
            edge.source if edge.source == edge.basis.value else f"{edge.source} ({edge.basis.value})",
            f"[{edge.name}](proofs/atlas.md#{edge.name})",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


_LONGEST = 6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivation:
    """A claim that follows from another one, and why.

    Attributes:
        start: The given claim.
        claim: The claim that follows.
        edges: The implications, in order; empty if the given claim is enough.
        steps: The claim that each implication gives.
    """

    start: Claim
    claim: Claim
    edges: tuple[Edge, ...]
    steps: tuple[Claim, ...]

    @property
    def reasons(self) -> list[str]:
        """One sentence per implication, and one for a restriction at the end."""
        sentences = [f"{edge.sentence} Here: {step}." for edge, step in zip(self.edges, self.steps, strict=True)]
        last = self.steps[-1] if self.steps else self.start
        if not self.claim.implies(last):
            sentences.append(f"This covers what was asked: {self.claim}.")
        return [text[0].upper() + text[1:] for text in sentences]

    def __len__(self) -> int:
        """The number of implications."""
        return len(self.edges)

    def __str__(self) -> str:
        first = f"Given: {self.start}."
        return "\n".join([first, *self.reasons, f"In words: {self.claim.sentence}"])

    def __repr__(self) -> str:
        names = " -> ".join(edge.name for edge in self.edges)
        return f"Derivation of {self.claim}{f' by {names}' if names else ''}"


def convert(claim: Claim | MetricPrivacy | DistortionPrivacy | Finding, to: str, **terms: object) -> Derivation:
    """Return the strongest claim of another notion that follows, with the chain of reasons.

    Numbers are upper limits: ``delta=1e-6`` asks for the least epsilon at that delta, ``epsilon=1`` for the least
    delta. Where several numbers stay open, the least delta comes first. All values are rounded up (a distortion
    down). Raises `InputError` if no chain of implications is known; the message names missing conditions, or a
    known counterexample.

    Args:
        claim: A claim, a guarantee, or a finding, which counts with its proved value.
        to: The key of the notion, such as ``"kl-privacy"``.
        **terms: Numbers and context of the claim, such as ``relation=``, ``metric=``, ``priors=`` or ``order=``.

    Example:
        >>> from sfumato.privacy.atlas import Claim, convert
        >>> chain = convert(Claim("differential-privacy", epsilon=1.0), to="kl-privacy")
        >>> print(chain.claim)
        KL privacy with epsilon 0.462118, of any two secrets
        >>> convert(Claim("gaussian", mu=1.0), to="differential-privacy", epsilon=1.0)
        Derivation of differential privacy with epsilon 1, delta 0.126937, of any two secrets by gaussian-to-dp
    """
    start, names = Claim.of(claim), Claim.names(to)
    for name, value in terms.items():
        if name not in names:
            raise InputError(f"{describe(to).title} has no parameter {name!r}.", f"it has {', '.join(names)}.")
        if name in describe(to).numbers and not (isinstance(value, int | float) and value >= 0):
            raise InputError(f"{name} was given as {value!r}.", "pass a number of at least 0.")
    goal = Goal(to, {name: value for name, value in terms.items() if value is not None})
    chains, refusals = _reachable(start, goal)
    fitting = [chain for chain in chains if chain.claim.notion == to and chain.claim.meets(goal.terms)]
    if not fitting:
        raise _no_chain(start, goal, refusals)
    best = min(fitting, key=lambda chain: _order(chain, goal))
    context = {name: value for name, value in goal.terms.items() if name in best.claim.context}
    return Derivation(start, best.claim.with_values(**context), best.edges, best.steps)


def _reachable(start: Claim, goal: Goal) -> tuple[list[Derivation], list[tuple[Edge, Refusal]]]:
    """Return the chains from a claim, shortest first, without claims that others already include."""
    chains = [Derivation(start, start, (), ())]
    frontier = list(chains)
    refusals = []
    for _ in range(_LONGEST):
        extensions = []
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
                    extensions.append(following)
        frontier = extensions
    return chains, refusals


def _order(chain: Derivation, goal: Goal) -> tuple[float, ...]:
    """Return the sort key of chains: open numbers, delta first; then limited numbers; then length."""
    numbers = sorted(chain.claim.numbers.items(), key=lambda item: (item[0] in goal.terms, item[0] != "delta"))
    sign = -1 if describe(chain.claim.notion).larger_hides else 1
    return (*(sign * value for _, value in numbers), len(chain))


def _no_chain(start: Claim, goal: Goal, refusals: list[tuple[Edge, Refusal]]) -> InputError:
    end = describe(goal.notion)
    problem = f"no implication is known from {start} to {end.title}{' as asked' if goal.terms else ''}."
    missing = [f"{edge.name}: {refusal.missing}" for edge, refusal in refusals if edge.end == goal.notion]
    missing += [f"{edge.name}: {refusal.missing}" for edge, refusal in refusals if edge.end != goal.notion]
    hints = []
    separation = SEPARATIONS.get((start.notion, goal.notion))
    if separation is not None:
        hints.append(f"a counterexample is known: {separation}")
    if missing:
        hints.append("what was missing: " + "; ".join(list(dict.fromkeys(missing))[:4]))
    return InputError(problem, ". ".join(hints) + "." if hints else "measure the mechanism under the notion.")
