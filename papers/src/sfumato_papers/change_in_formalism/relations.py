"""Relations of the thesis between notions, tried on random channels and on known ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.core import Bracket
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import (
    AdversarialPrivacy,
    MembershipPrivacy,
    PositiveMembershipPrivacy,
    Pufferfish,
    TestingRegion,
)

from ..results import columns_of, interval, where
from .channels import COIN, LEAKY, ODD, RARE_VALUE, TWO_RARE, FormalCase, coin
from .checks import (
    ADVERSARIES,
    AFTERWARDS,
    CONCENTRATED,
    DP,
    INDISTINGUISHABLE,
    INFORMATION,
    KL,
    MEMBERSHIP,
    NEGATIVE,
    NEGATIVE_OF_ALL,
    NOISELESS,
    POSITIVE,
    POSITIVE_OF_ALL,
    RANGE,
    TOTAL,
    Check,
    bounded,
    by_hand,
    conditioned,
    delta_of,
    delta_of_adversaries,
    delta_of_errors,
    equivalent,
    errors_on_curve,
    exchange,
    factors,
    gaussian_delta,
    implied,
    information_to_total,
    kl_to_information,
    odds,
    of_prior,
    twice,
)

_SOME: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalRelation(CompactRepr):
    """A relation between two notions."""

    where: str
    name: str
    says: str
    check: Check
    known: FormalCase = COIN  # attains the relation or, if it fails, breaks it


@dataclass(frozen=True, slots=True, repr=False)
class RelationRow(CompactRepr):
    """A relation on the random channels of a seed."""

    relation: str
    seed: int
    instances: int  # channels to which it applies
    violations: int  # channels on which more is found than is allowed
    mean_share: float  # of what is allowed that was found, over the channels where something is allowed
    tightness: float  # the largest share


@dataclass(frozen=True, slots=True, repr=False)
class KnownRow(CompactRepr):
    """A relation on a channel that is known to attain it, or to break it."""

    relation: str
    where: str
    says: str
    known_channel: str
    known_prior: str
    known_allowed: float
    known_found: float
    known_violated: bool


@dataclass(frozen=True, slots=True, repr=False)
class RelationSummary(KnownRow):
    """A relation on its known channel, and on the random channels of all seeds."""

    seeds: int
    instances: int
    violations: int
    mean_share: Bracket  # over channels: the mean over seeds with its 95 % interval; infinite if none is allowed
    tightness: float  # the largest share

    @property
    def fails(self) -> bool:
        """Whether a channel, random or known, breaks the relation."""
        return self.known_violated or self.violations > 0


def tried(relation: FormalRelation, seed: int, some: Iterable[FormalCase]) -> RelationRow:
    """Return the shares and violations of a relation on channels."""
    found = [measured for case in some if (measured := relation.check(case)) is not None]
    # Where nothing is allowed, there is nothing to take a share of.
    shares = [each.share for each in found if each.allowed > _SOME or each.violated]
    mean = math.fsum(shares) / len(shares) if shares else 0.0
    tightness = max((each.share for each in found), default=0.0)
    return RelationRow(relation.name, seed, len(found), sum(each.violated for each in found), mean, tightness)


def known(relation: FormalRelation) -> KnownRow:
    """Return the allowed and found value of a relation on its known channel.

    Raises:
        ValueError: If it does not apply there.
    """
    measured = relation.check(relation.known)
    if measured is None:
        raise ValueError(relation.name)
    channel = _written(relation.known.rows), _written(relation.known.prior.probabilities[None, :])
    values = measured.allowed, measured.value
    return KnownRow(relation.name, relation.where, relation.says, *channel, *values, measured.violated)


def _written(rows: Floats) -> str:
    """Return rows as text: entries apart by blanks, rows by strokes."""
    return " / ".join(" ".join(f"{entry:.6g}" for entry in row) for row in rows)


def summaries(rows: Sequence[RelationRow], known: Sequence[KnownRow]) -> list[RelationSummary]:
    """Return a summary of each relation over its seeds, in their order."""
    return [_summary(each, where(rows, relation=each.relation)) for each in known]


def _summary(row: KnownRow, seeds: Sequence[RelationRow]) -> RelationSummary:
    shares = [each.mean_share for each in seeds]
    mean = Bracket(math.inf, math.inf, math.inf)
    if all(map(math.isfinite, shares)):
        # No more than 0 to 1 is possible where a relation holds.
        mean = interval(shares)
        mean = Bracket(max(0.0, mean.lower), mean.value, min(mean.upper, max(1.0, mean.value)))
    return RelationSummary(
        **columns_of(row),  # type: ignore[arg-type]
        seeds=len(seeds),
        instances=sum(each.instances for each in seeds),
        violations=sum(each.violations for each in seeds),
        mean_share=mean,
        tightness=max(each.tightness for each in seeds),
    )


_STATED: Final[dict[str, tuple[tuple[str, str, Check] | tuple[str, str, Check, FormalCase], ...]]] = {
    "2.2.6, hypothesis testing": (
        (
            "DP to total error",
            "epsilon-DP gives every test a total error of at least 2 / (1 + e^epsilon), which is a "
            "total variation of at most tanh(epsilon / 2).",
            implied(DP, TOTAL, lambda epsilon: math.tanh(epsilon / 2)),
        ),
        (
            "DP and both errors",
            "(epsilon, delta)-DP gives every test 1 - a <= e^epsilon b + delta and 1 - b <= "
            "e^epsilon a + delta, and tests that keep both make the channel (epsilon, delta)-DP.",
            delta_of_errors(lambda case: TestingRegion.of(case.rows).vertices.T),
        ),
    ),
    "2.2.6, definition 36": (
        (
            "DP and f-DP",
            "(epsilon, delta)-DP is f-DP for f = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - "
            "a)), and conversely.",
            delta_of_errors(errors_on_curve),
        ),
    ),
    "2.2.6, Gaussian privacy": (
        (
            "Gaussian DP to DP",
            "mu-GDP gives delta = Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2).",
            gaussian_delta,
        ),
    ),
    "2.2.6, proposition 1": (
        (
            "DP and IndPr",
            "epsilon-DP is epsilon-indistinguishable privacy, and conversely.",
            equivalent(DP, INDISTINGUISHABLE),
        ),
        (
            "DP to posteriors",
            "epsilon-DP keeps a posterior between p / (e^epsilon + (1 - e^epsilon) p) and e^epsilon "
            "p / (1 + (e^epsilon - 1) p).",
            bounded("differential-privacy", DP),
        ),
    ),
    "2.2.6, definition 37": (
        (
            "PMPr to posteriors",
            "epsilon-PMPr keeps a posterior below e^epsilon p and 1 - e^-epsilon (1 - p).",
            bounded("positive-membership", POSITIVE, first=True),
        ),
    ),
    "2.2.9, table 2.20": (
        (
            "DP and PMPr of every prior",
            "epsilon-DP is epsilon-PMPr for every prior and every single secret, and conversely.",
            equivalent(DP, POSITIVE_OF_ALL),
        ),
        (
            "DP and NMPr of every prior",
            "epsilon-DP is epsilon-NMPr for every prior and every single secret, and conversely.",
            equivalent(DP, NEGATIVE_OF_ALL),
        ),
        ("MPr to PMPr", "epsilon-MPr is epsilon-PMPr.", implied(MEMBERSHIP, POSITIVE)),
        ("MPr to NMPr", "epsilon-MPr is epsilon-NMPr.", implied(MEMBERSHIP, NEGATIVE)),
        (
            "PMPr to AdvPr",
            "epsilon-PMPr is (epsilon, 0)-AdvPr.",
            implied(of_prior(PositiveMembershipPrivacy), of_prior(AdversarialPrivacy)),
        ),
        (
            "DP and AdvPr of every prior",
            "epsilon-DP is (epsilon, 0)-AdvPr for every prior and every single secret, and conversely.",
            equivalent(DP, ADVERSARIES),
        ),
        (
            "(epsilon, delta)-DP to AdvPr",
            "(epsilon, delta)-DP is (epsilon, delta)-AdvPr, for every prior.",
            implied(delta_of, delta_of_adversaries),
            LEAKY,
        ),
        (
            "AdvPr to (epsilon, delta)-DP",
            "(epsilon, delta)-AdvPr for every prior is (epsilon, delta)-DP.",
            implied(delta_of_adversaries, delta_of),
        ),
    ),
    "2.2.6, definition 39": (
        ("NPr to ANPr", "epsilon-NPr is epsilon-ANPr.", implied(NOISELESS, AFTERWARDS), RARE_VALUE),
        (
            "ANPr to NPr, twice",
            "epsilon-ANPr is (2 epsilon)-NPr.",
            implied(AFTERWARDS, NOISELESS, twice),
            TWO_RARE,
        ),
        (
            "ANPr to posteriors",
            "epsilon-ANPr keeps a posterior between max(e^-epsilon p, 1 - e^epsilon (1 - p)) and "
            "min(e^epsilon p, 1 - e^-epsilon (1 - p)).",
            bounded("aposteriori-noiseless", AFTERWARDS),
        ),
        (
            "ANPr and MPr",
            "epsilon-ANPr is epsilon-MPr for one prior, and conversely.",
            by_hand(factors, of_prior(MembershipPrivacy)),
        ),
    ),
    "2.2.6, inferential privacy and identity DP": (
        (
            "bounded odds and NPr",
            "Where a report changes the odds of any two values by at most e^epsilon, it is "
            "epsilon-NPr, and conversely.",
            by_hand(odds, NOISELESS),
        ),
    ),
    "2.2.5, definition 35": (
        (
            "Pufferfish and distribution privacy",
            "Pufferfish privacy is privacy of the distributions given each rival, and conversely.",
            equivalent(lambda case: Pufferfish(case.given, case.halves), conditioned),
        ),
    ),
    "2.2.6, definition 41": (
        (
            "InfPr to DP, twice",
            "epsilon-InfPr, for a prior that holds every secret possible, is (2 epsilon)-DP of all pairs.",
            implied(INFORMATION, DP, twice),
            TWO_RARE,
        ),
    ),
    "2.2.6, definition 40": (
        (
            "DP to SemPr",
            "epsilon-DP is (e^epsilon - 1)-semantic privacy.",
            implied(DP, exchange, math.expm1),
            coin(0.01),
        ),
    ),
    "2.2.6, range-bounded privacy": (
        ("bounded range to DP", "eta-bounded range is eta-DP.", implied(RANGE, DP), ODD),
        ("DP to bounded range", "epsilon-DP is (2 epsilon)-bounded range.", implied(DP, RANGE, twice)),
        (
            "bounded range to concentrated DP",
            "eta-bounded range is (eta^2 / 8)-zCDP.",
            implied(RANGE, CONCENTRATED, lambda eta: eta**2 / 8),
            coin(0.01),
        ),
        (
            "DP to concentrated DP",
            "epsilon-DP is (epsilon^2 / 2)-zCDP.",
            implied(DP, CONCENTRATED, lambda epsilon: epsilon**2 / 2),
            coin(0.01),
        ),
    ),
    "2.2.2, KL privacy": (
        (
            "DP to KL",
            "epsilon-DP is min(epsilon, epsilon^2)-KL privacy.",
            implied(DP, KL, lambda epsilon: min(epsilon, epsilon**2)),
            coin(5.0),
        ),
        (
            "KL to mutual information",
            "epsilon-KL privacy lets a report give at most epsilon nats about which of two secrets it is.",
            kl_to_information,
            coin(0.1),
        ),
        (
            "mutual information to total error",
            "At most epsilon nats of information make the channel (0, sqrt(2 epsilon))-DP.",
            information_to_total,
            coin(0.3),
        ),
    ),
}
"""By the place in the thesis: the name of a relation, what it says, its check, and a channel that attains it."""

FORMAL_RELATIONS: Final = tuple(FormalRelation(place, *row) for place, rows in _STATED.items() for row in rows)
"""The relations of the thesis, and of papers that it cites."""
