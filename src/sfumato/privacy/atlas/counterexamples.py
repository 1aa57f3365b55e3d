"""Counterexamples: mechanisms that show which properties a notion lacks; each can be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from ...core import Prior, Space
from ...core.arrays import Floats
from ..beliefs.adversarial import AdversarialPrivacy
from ..beliefs.attackers import Events, Priors
from ..beliefs.membership import MembershipPrivacy, NegativeMembershipPrivacy, PositiveMembershipPrivacy
from ..beliefs.noiseless import AposterioriNoiselessPrivacy, IdentityPrivacy, InferentialPrivacy, NoiselessPrivacy
from ..beliefs.pufferfish import CausalPrivacy, Pufferfish
from ..beliefs.semantic import SemanticPrivacy
from ..distributions.distribution import DistributionPrivacy
from ..distributions.family import Family
from ..notion import Finding, Notion
from ..point.concentrated import BoundedRange
from ..point.probabilistic import ProbabilisticDifferentialPrivacy


@dataclass(frozen=True, slots=True, eq=False)
class Counterexample:
    """Mechanisms that satisfy a notion, and one made from them that does not.

    Attributes:
        says: What happens, in words.
        notion: The notion, with its priors and facts.
        before: The mechanisms, arrays (secrets, observables).
        after: The mechanism made from them.
    """

    says: str
    notion: Notion
    before: tuple[Floats, ...]
    after: Floats

    def run(self) -> tuple[tuple[Finding, ...], Finding]:
        """Return what the notion finds of the mechanisms, and of the one made from them."""
        return tuple(self.notion.measure(each) for each in self.before), self.notion.measure(self.after)


def jointly(first: Floats, second: Floats) -> Floats:
    """Return the mechanism that runs two on the same secret, array (n, m1 m2)."""
    joint: Floats = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return joint


def _answers(secrets: list[tuple[int, ...]], query: Callable[[tuple[int, ...]], int]) -> Floats:
    """Return the mechanism that answers a query without noise."""
    values = [query(secret) for secret in secrets]
    columns = sorted(set(values))
    return np.array([[float(value == column) for column in columns] for value in values])


def _bits(size: int) -> tuple[list[tuple[int, ...]], Space, Priors, Events]:
    """Return all words of bits, with the uniform prior and the first bit as the attribute."""
    secrets = list(product((0, 1), repeat=size))
    space = Space(["".join(map(str, secret)) for secret in secrets])
    first = Events.partition(space, {label: str(label)[0] for label in space.labels})
    return secrets, space, Priors.of(Prior.uniform(space)), first


def parity(key: str) -> Counterexample:
    """Return two mechanisms that say nothing about the first of two bits, and together all.

    Args:
        key: The notion that is shown not to compose.
    """
    secrets, _, priors, first = _bits(2)
    both, second = _answers(secrets, lambda word: word[0] ^ word[1]), _answers(secrets, lambda word: word[1])
    notions: dict[str, Notion] = {
        "positive-membership": PositiveMembershipPrivacy(priors, first),
        "negative-membership": NegativeMembershipPrivacy(priors, first),
        "membership": MembershipPrivacy(priors, first),
        "adversarial": AdversarialPrivacy(priors, 0.0, first),
        "noiseless": NoiselessPrivacy(priors, first),
        "aposteriori-noiseless": AposterioriNoiselessPrivacy(priors, first),
        "inferential": InferentialPrivacy(priors, first),
        "identity": IdentityPrivacy(priors, first),
        "pufferfish": Pufferfish(priors, first),
        "distribution-privacy": DistributionPrivacy(Family([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])),
        "causal": CausalPrivacy(priors, [[[0, 1, 0, 1], [2, 3, 2, 3]]]),
    }
    return Counterexample(
        "the parity of two fair bits and the second bit each say nothing about the first bit, but together all",
        notions[key],
        (both, second),
        jointly(both, second),
    )


def counting() -> Counterexample:
    """Return two counting queries that differ in one record, extreme counts merged (thesis, Proposition 20)."""
    secrets, _, priors, first = _bits(5)
    everyone = _answers(secrets, lambda word: min(max(sum(word), 1), 4))
    others = _answers(secrets, lambda word: min(max(sum(word[1:]), 1), 3))
    return Counterexample(
        "a count of all records and a count of all but one hide that record in the others' randomness, but their "
        "difference is the record",
        NoiselessPrivacy(priors, first),
        (everyone, others),
        jointly(everyone, others),
    )


def merged_rare() -> Counterexample:
    """Return a mechanism whose rare bad report, merged with a good one, becomes a less rare bad report."""
    rows = np.array([[0.05, 0.0625, 0.8875], [0.0, 0.0625, 0.9375]])
    return Counterexample(
        "a report that gives the secret away has probability .05; merged with a harmless report it is bad with "
        ".1125",
        ProbabilisticDifferentialPrivacy(0.05),
        (rows,),
        np.column_stack([rows[:, 0] + rows[:, 1], rows[:, 2]]),
    )


def mixed_rare() -> Counterexample:
    """Return two mechanisms and their mixture, in which a bad report is less rare."""
    leaky = np.array([[0.1, 0.12, 0.78], [0.0, 0.12, 0.88]])
    # The harmless one lends its mass to the bad report of the other.
    harmless = np.array([[0.12, 0.1, 0.78], [0.12, 0.1, 0.78]])
    return Counterexample(
        "an equal coin between a mechanism that leaks with probability .1 and one that never does makes a bad "
        "report of probability .11",
        ProbabilisticDifferentialPrivacy(0.1),
        (leaky, harmless),
        (leaky + harmless) / 2,
    )


def shifted_ranges() -> Counterexample:
    """Return two mechanisms whose losses lie on different sides of 0, and their mixture."""
    low = np.array([[0.9, 0.1, 0.0, 0.0], [0.875, 0.125, 0.0, 0.0]])
    rise = np.array([[0.0, 0.0, 0.125, 0.875], [0.0, 0.0, 0.1, 0.9]])
    return Counterexample(
        "losses of one mechanism go from slightly above 0 far down, of the other from slightly below 0 far up; "
        "their mixture has both",
        BoundedRange(),
        (low, rise),
        (low + rise) / 2,
    )


_LEFT: Final = np.array([4.0, 1.0, 1.0, 0.25])  # of x, N(x), x', N(x')


def _semantic() -> SemanticPrivacy:
    return SemanticPrivacy(np.array([[1, -1, 3, -1]]))


def merged_by_chance() -> Counterexample:
    """Return a mechanism of which a randomised rewriting is less semantically private."""
    first, second = 0.004 * _LEFT, np.full(4, 0.04)
    rows = np.column_stack([first, second, 1 - first - second])
    blur = np.array([[1.0, 0.0], [0.1, 0.9], [0.0, 1.0]])
    return Counterexample(
        "a set of reports holds a report or not; a randomised rewriting may hold a tenth of it, which is worse",
        _semantic(),
        (rows,),
        rows @ blur,
    )


def mixed_semantics() -> Counterexample:
    """Return two mechanisms, nearly perfect by semantic privacy, and their mixture, which is not."""
    first, second = 0.004 * _LEFT, np.full(4, 0.004)
    rows = [np.column_stack([each, 1 - each]) for each in (first, second)]
    return Counterexample(
        "both records multiply the probability of a report by 4 in one mechanism and by 1 in the other, but by "
        "different factors in their mixture",
        _semantic(),
        (rows[0], rows[1]),
        (rows[0] + rows[1]) / 2,
    )


def fed_by_impossible() -> Counterexample:
    """Return a mechanism that, used twice, makes many pairs of reports that the default cannot make."""
    rare = 2.0**-10
    rows = np.array([[rare, rare, 1 - 2 * rare], [rare, 0.0, 1 - rare], [1.0, 0.0, 0.0]])
    return Counterexample(
        "the default always makes the first report, and only the first secret the second one; a set of pairs "
        "needs one pair that the default can make, and then adds every pair that the second secret cannot",
        SemanticPrivacy(np.array([[2, 2, -1]])),
        (rows, rows),
        jointly(rows, rows),
    )
