"""Properties of notions: post-processing, mixtures and composition, with counterexamples where they fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce
from itertools import product
from typing import Final

import numpy as np

from ...core import Prior, Space
from ...core.arrays import Floats
from ...errors import InputError
from ...intervals import Interval, exact, upper_end
from ..beliefs.attackers import Events, Priors
from ..beliefs.membership import NoiselessPrivacy
from ..beliefs.pufferfish import InferenceBasedCausalPrivacy
from ..beliefs.semantic import SemanticPrivacy
from ..distributions.family import Family
from ..notion import Finding, Notion
from ..point.concentrated import BoundedRange
from ..point.probabilistic import ProbabilisticDifferentialPrivacy
from ..vocabulary import describe, kinds
from .claims import Claim, covers, to_one_default


class Property(Enum):
    """A property that a notion may have; the value is its statement."""

    POST_PROCESSING = "any processing of the reports leaves the value valid"
    CONVEXITY = "a fixed coin that chooses between two mechanisms of one value makes a mechanism of this value"
    COMPOSITION = "two mechanisms that satisfy it, used on one secret, satisfy it at a value that theirs determine"


@dataclass(frozen=True, slots=True, eq=False)
class Counterexample:
    """Mechanisms that satisfy a notion, and one made from them that does not, with an explanation ``says``."""

    says: str
    notion: Notion
    before: tuple[Floats, ...]
    after: Floats

    def run(self) -> tuple[tuple[Finding, ...], Finding]:
        """Return the findings for the mechanisms, and for the one made from them."""
        return tuple(self.notion.measure(mechanism) for mechanism in self.before), self.notion.measure(self.after)


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
    """Return two mechanisms that hide the first of two bits under a notion, but together reveal it."""
    secrets, _, priors, first = _bits(2)
    both, second = _answers(secrets, lambda word: word[0] ^ word[1]), _answers(secrets, lambda word: word[1])
    family, sets = Family([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]), [[[0, 1, 0, 1], [2, 3, 2, 3]]]
    context = {"priors": priors, "events": first, "rivals": first, "family": family, "interventions": sets}
    return Counterexample(
        "the parity of two fair bits and the second bit each say nothing about the first bit, but together all",
        kinds(key)[0].of(context),
        (both, second),
        jointly(both, second),
    )


def counting() -> Counterexample:
    """Return two counting queries that differ in one record, extreme counts merged (thesis, Proposition 20)."""
    secrets, _, priors, first = _bits(5)
    whole = _answers(secrets, lambda word: min(max(sum(word), 1), 4))
    rest = _answers(secrets, lambda word: min(max(sum(word[1:]), 1), 3))
    return Counterexample(
        "a count of all records and a count of all but one hide that record in the others' randomness, but their "
        "difference is the record",
        NoiselessPrivacy(priors, first),
        (whole, rest),
        jointly(whole, rest),
    )


def _merged_rare() -> Counterexample:
    rows = np.array([[0.05, 0.0625, 0.8875], [0.0, 0.0625, 0.9375]])
    return Counterexample(
        "a report that gives the secret away has probability .05; merged with a harmless report it is bad with "
        ".1125",
        ProbabilisticDifferentialPrivacy(0.05),
        (rows,),
        np.column_stack([rows[:, 0] + rows[:, 1], rows[:, 2]]),
    )


def _mixed_rare() -> Counterexample:
    leaky = np.array([[0.1, 0.12, 0.78], [0.0, 0.12, 0.88]])
    # The harmless mechanism adds its mass to the bad report of the other.
    harmless = np.array([[0.12, 0.1, 0.78], [0.12, 0.1, 0.78]])
    return Counterexample(
        "an equal coin between a mechanism that leaks with probability .1 and one that never does makes a bad "
        "report of probability .11",
        ProbabilisticDifferentialPrivacy(0.1),
        (leaky, harmless),
        (leaky + harmless) / 2,
    )


def _shifted_ranges() -> Counterexample:
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
_SEMANTIC: Final = SemanticPrivacy(np.array([[1, -1, 3, -1]]))


def _merged_by_chance() -> Counterexample:
    first, second = 0.004 * _LEFT, np.full(4, 0.04)
    rows = np.column_stack([first, second, 1 - first - second])
    blur = np.array([[1.0, 0.0], [0.1, 0.9], [0.0, 1.0]])
    return Counterexample(
        "a set of reports holds a report or not; a randomised rewriting may hold a tenth of it, which is worse",
        _SEMANTIC,
        (rows,),
        rows @ blur,
    )


def _mixed_semantics() -> Counterexample:
    first, second = 0.004 * _LEFT, np.full(4, 0.004)
    rows = [np.column_stack([column, 1 - column]) for column in (first, second)]
    return Counterexample(
        "both records multiply the probability of a report by 4 in one mechanism and by 1 in the other, but by "
        "different factors in their mixture",
        _SEMANTIC,
        (rows[0], rows[1]),
        (rows[0] + rows[1]) / 2,
    )


# Secrets are a record of values 0 to 2 with another of values 0 and 1, which decides how the record matters.
_FAVOURS: Final = np.array([[1, 0], [0, 4], [4, 0], [0, 2], [2, 0], [0, 1]]) / 64
_SET_FIRST: Final = [np.array([[0, 1, 0, 1, 0, 1], [2, 3, 2, 3, 2, 3], [4, 5, 4, 5, 4, 5]])]


def _favours(*, mixture: bool) -> Counterexample:
    """Return two reports that favour different values, merged, or of two mechanisms that are mixed."""
    first, second = (np.column_stack([column, 1 - column]) for column in _FAVOURS.T)
    whole = np.column_stack([_FAVOURS, 1 - _FAVOURS.sum(axis=1)])
    return Counterexample(
        "a report favours a value of a record 4 times, another one disfavours a second value 4 times; taken for "
        "one report they do both",
        InferenceBasedCausalPrivacy(Priors.all(), _SET_FIRST),
        (first, second) if mixture else (whole,),
        (first + second) / 2 if mixture else np.column_stack([whole[:, :2].sum(axis=1), whole[:, 2]]),
    )


def _fed_by_impossible() -> Counterexample:
    rare = 2.0**-10
    rows = np.array([[rare, rare, 1 - 2 * rare], [rare, 0.0, 1 - rare], [1.0, 0.0, 0.0]])
    return Counterexample(
        "the default always makes the first report, and only the first secret the second one; a set of pairs "
        "needs one pair that the default can make, and then adds every pair that the second secret cannot",
        SemanticPrivacy(np.array([[2, 2, -1]])),
        (rows, rows),
        jointly(rows, rows),
    )


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """Whether a notion has a property.

    Attributes:
        holds: Whether it has.
        why: The rule, the reason, or the condition.
        source: The publication; "proved here" refers to docs/proofs/properties.md.
        make: Makes the counterexample; None where the property holds.
        combine: From claims to their composition, where numbers for it are known.
    """

    holds: bool
    why: str
    source: str
    make: Callable[[], Counterexample] | None = None
    combine: Callable[[Sequence[Claim]], Claim] | None = None

    def counterexample(self) -> Counterexample:
        """Return the mechanisms that show that the property fails.

        Raises `InputError` if the property holds.
        """
        if self.make is None:
            raise InputError("the property holds, so it has no counterexample.", "check `holds` first.")
        return self.make()


_TABLE: Final = "Desfontaines, 2.2.9"
_HERE: Final = "proved here"
_OPEN: Final = f"{_HERE}; {_TABLE} has a question mark"
_SAME: Final = "sets of reports after the processing are (random) sets of reports before it"
_SUMS: Final = "sums of inequalities are inequalities"
_WEIGHTS: Final = (
    "what is believed after a report of the mixture is an average of what is believed after its parts"
)
_DEFAULTS: Final = "against every default, or one that can make every report"


def _add(claims: Sequence[Claim]) -> Claim:
    """Return the claim whose numbers, except the order, are sums, rounded up."""
    totals = {
        name: upper_end(lambda name=name: sum((exact(claim[name]) for claim in claims), exact(0.0)))  # type: ignore[misc]
        for name in claims[0].numbers
        if name != "order"
    }
    if "delta" in totals:
        totals["delta"] = min(totals["delta"], 1.0)
    return claims[0].with_values(**totals)


_Combine = Callable[[Sequence[Claim]], Claim]


def _add_as(name: str, to: Callable[[Interval], Interval], back: Callable[[Interval], Interval]) -> _Combine:
    """Return the composition that adds a number on another scale."""
    return lambda claims: claims[0].with_values(
        **{name: upper_end(lambda: back(sum((to(exact(claim[name])) for claim in claims), exact(0.0))))}
    )


def _add_information(claims: Sequence[Claim]) -> Claim:
    """Return the joint claim of information privacy, from the largest epsilon to the least."""
    priors, epsilons = claims[0].context["priors"], sorted((claim["epsilon"] for claim in claims), reverse=True)
    if priors is None or covers("priors", priors, None):
        return _add(claims)
    if isinstance(priors, Priors) and priors.interval is not None:
        raise InputError(
            f"information privacy against {priors} has no rule of composition.",
            "claim it for given priors, or all.",
        )

    def both(first: float, second: float) -> float:
        e1, e2 = exact(first), exact(second)
        return upper_end(lambda: e2 + ((e1 + e2).exp() - e2.exp() + 1).log())

    return claims[0].with_values(epsilon=reduce(both, epsilons))


def _yes(why: str, source: str = _TABLE, combine: _Combine | None = None) -> PropertyAnswer:
    return PropertyAnswer(True, why, source, combine=combine)


def _parity(key: str, source: str = _TABLE) -> PropertyAnswer:
    return PropertyAnswer(False, "randomness of the secret hides it only once", source, partial(parity, key))


def _row(post: PropertyAnswer, convex: PropertyAnswer, composed: PropertyAnswer) -> dict[Property, PropertyAnswer]:
    return dict(zip(Property, (post, convex, composed), strict=True))


def _plain(rule: str, source: str = _TABLE, combine: _Combine | None = _add) -> dict[Property, PropertyAnswer]:
    return _row(_yes(_SAME, source), _yes(_SUMS, source), _yes(rule, source, combine))


def _beliefs(key: str) -> dict[Property, PropertyAnswer]:
    return _row(_yes(_WEIGHTS), _yes(_WEIGHTS), _parity(key))


PROPERTIES: Final[dict[str, dict[Property, PropertyAnswer]]] = {
    "differential-privacy": _plain("epsilons add and deltas add"),
    "probabilistic-differential-privacy": _row(
        PropertyAnswer(False, "a bad report may be merged with a good one", _HERE, _merged_rare),
        PropertyAnswer(False, "bad reports of one are fed by good ones of the other", _HERE, _mixed_rare),
        _yes("epsilons add and deltas add: bad sets are joined", _HERE, _add),
    ),
    "metric-privacy": _plain("epsilons add and deltas add, for one metric"),
    "kl-privacy": _plain("epsilons add, by the chain rule", _HERE),
    "renyi-privacy": _plain("epsilons add, for one order", "Mironov 2017"),
    "concentrated-privacy": _plain("rhos add", "Bun and Steinke 2016"),
    "indistinguishable": _plain("epsilons add"),
    "trade-off": _row(
        _yes(_SAME),
        _yes("errors of a mixture are averages, and the curve is convex", _OPEN),
        _yes("curves are multiplied as tests of product distributions"),
    ),
    "gaussian": _row(
        _yes(_SAME),
        _yes("as for any trade-off curve", _OPEN),
        _yes("mu = sqrt(mu_1^2 + mu_2^2)", combine=_add_as("mu", lambda mu: mu**2, lambda total: total.sqrt())),
    ),
    "bounded-range": _row(
        _yes("likelihood ratios after the processing are averages of those before it", _OPEN),
        PropertyAnswer(
            False,
            "the two ranges may lie on different sides of 0; a mixture has at most twice the larger eta",
            _OPEN,
            _shifted_ranges,
        ),
        _yes("etas add, since losses add, where no mechanism reads another's report", _OPEN, _add),
    ),
    **{key: _beliefs(key) for key in ("positive-membership", "negative-membership", "membership", "adversarial")},
    "noiseless": _row(_yes(_SAME), _yes(_SUMS), PropertyAnswer(False, "Proposition 20", _TABLE, counting)),
    "aposteriori-noiseless": _row(_yes(_WEIGHTS), _yes(_WEIGHTS), _parity("aposteriori-noiseless", _OPEN)),
    "inferential": _row(_yes(_SAME, _HERE), _yes(_SUMS, _HERE), _parity("inferential", _HERE)),
    "identity": _row(_yes(_SAME, _HERE), _yes(_SUMS, _HERE), _parity("identity", _HERE)),
    "pufferfish": _row(_yes(_SAME), _yes(_SUMS), _parity("pufferfish")),
    "causal": _row(_yes(_SAME, _HERE), _yes(_SUMS, _HERE), _parity("causal", _HERE)),
    "inference-based-causal": _row(
        PropertyAnswer(
            False,
            "against every prior processing at most doubles epsilon",
            _HERE,
            partial(_favours, mixture=False),
        ),
        PropertyAnswer(
            False, "against every prior a mixture at most doubles epsilon", _HERE, partial(_favours, mixture=True)
        ),
        PropertyAnswer(
            False,
            "randomness of the secret hides it only once; epsilons add against every prior",
            _HERE,
            partial(parity, "inference-based-causal"),
        ),
    ),
    "semantic": _row(
        PropertyAnswer(
            False,
            "random processing may keep a part of a set; deterministic processing is safe, and so is all "
            f"processing {_DEFAULTS}",
            _OPEN,
            _merged_by_chance,
        ),
        PropertyAnswer(
            False,
            f"factors common to two records may differ in a mixture; mixtures are safe {_DEFAULTS}",
            _OPEN,
            _mixed_semantics,
        ),
        PropertyAnswer(
            False,
            "a set of pairs of reports may hold one pair that the default can make, and many that it cannot; "
            f"artanh(epsilon) adds {_DEFAULTS}",
            _OPEN,
            _fed_by_impossible,
            _add_as("epsilon", lambda epsilon: epsilon.atanh(), lambda total: total.tanh()),
        ),
    ),
    "information": _row(
        _yes(_WEIGHTS, _OPEN),
        _yes(_WEIGHTS, _OPEN),
        _yes(
            "for e1 >= e2, e2 + ln(e^(e1 + e2) - e^e2 + 1), at most e1 + 2 e2, and attained; the sum alone "
            "where the claim is against every prior",
            _OPEN,
            _add_information,
        ),
    ),
    "divergence-privacy": _plain(
        "KL divergences and total variations add; of chi-square 1 + x, of the squared Hellinger distance 1 - x "
        "multiply",
        _HERE,
        combine=None,
    ),
    "distribution-privacy": _row(_yes(_SAME), _yes(_SUMS), _parity("distribution-privacy")),
    "metric-distribution-privacy": _plain(
        "for order inf epsilons add, since it is metric privacy; the no of the table is about families",
        f"{_HERE}; compare {_TABLE}",
        combine=None,
    ),
}
"""The answers, by notion and property, for the notions that were examined."""


def answer(notion: str, trait: Property) -> PropertyAnswer:
    """Return whether a notion has a property, with the reason and, if not, a counterexample.

    Raises `InputError` if the notion is unknown, or is not in the table.

    Example:
        >>> from sfumato.privacy.atlas import Property, answer
        >>> found = answer("membership", Property.COMPOSITION)
        >>> found.holds, found.counterexample().run()
        (False, ((Membership privacy: epsilon 0, Membership privacy: epsilon 0), Membership privacy: epsilon inf))
    """
    if describe(notion).key not in PROPERTIES:
        raise InputError(f"the properties of {notion} are not in the table.", f"it has {', '.join(PROPERTIES)}.")
    return PROPERTIES[notion][trait]


def compose(claims: Sequence[Claim]) -> Claim:
    """Return the joint claim of several mechanisms, each run on the same secret with its own randomness.

    The claims, one per mechanism, are of one notion and about the same secrets. No mechanism reads the report of
    another one. For bounded range that matters: a mechanism chosen by the first report can have up to eta_1 + 2
    eta_2. Raises `InputError` if the notion does not compose (the message names a counterexample), the claims
    differ in what they are about, or no rule in numbers is known here.

    Example:
        >>> from sfumato.privacy.atlas import Claim, compose
        >>> print(compose([Claim("gaussian", mu=3.0), Claim("gaussian", mu=4.0)]))
        Gaussian privacy with mu 5, of any two secrets
    """
    if not claims:
        raise InputError("no claim was given.", "pass one claim for each mechanism.")
    first = claims[0]
    composition = answer(first.notion, Property.COMPOSITION)
    if not composition.holds and not all(_of_possible_default(claim) for claim in claims):
        raise InputError(
            f"{describe(first.notion).title} does not compose: {composition.counterexample().says}.",
            "convert each claim to differential privacy first, or measure the joint mechanism.",
        )
    for other in claims[1:]:
        same = other.notion == first.notion
        for name, value in other.context.items() if same else ():
            if not (covers(name, first.context[name], value) and covers(name, value, first.context[name])):
                raise InputError(
                    f"{other} is not about the same as {first}: their {name} differ "
                    f"({value!r} and {first.context[name]!r}).",
                    f"state both claims for the same {name}.",
                )
        if not same or other.numbers.get("order") != first.numbers.get("order"):
            raise InputError(f"{other} is not about the same as {first}.", "convert both to one notion.")
    if composition.combine is None:
        raise InputError(f"{describe(first.notion).title} composes: {composition.why}.", "apply that rule.")
    return composition.combine(claims)


def _of_possible_default(claim: Claim) -> bool:
    """Return whether a claim of semantic privacy is about every default, or one that can make every report."""
    if claim.notion != "semantic":
        return False
    maps = claim.context["maps"]
    return maps is None or (to_one_default(maps) and claim.context["possible"] is True)
