"""Definitions of privacy at an epsilon: which follow from the guarantee, and which limit anything."""

from __future__ import annotations

from typing import Final

from sfumato.errors import InputError
from sfumato.privacy import VOCABULARY
from sfumato.privacy.atlas import NOTION_KEYS, Claim, convert
from sfumato.reports.sentences import at_epsilon, short_words
from sfumato.rounding import at_most

from .answers import NotionAnswer, NotionsAnswer
from .domains import Domain

MEANINGFUL: Final = 3.0  # the largest number of a meaningful limit: a factor of about 20
_MEANINGFUL_SHARE: Final = 0.9  # of a definition whose number is a difference of probabilities
_SHARES: Final = frozenset({"semantic"})

PLAIN: Final = {
    "differential-privacy": "How well any two secrets can be distinguished",
    "probabilistic-differential-privacy": "How well two secrets can be distinguished, rare reports aside",
    "indistinguishable": "How far a report moves the odds of two secrets",
    "metric-privacy": "How well two secrets can be distinguished, by their distance",
    "divergence-privacy": "How differently two secrets are reported",
    "divergence-metric-privacy": "How differently two secrets are reported, by their distance",
    "kl-privacy": "How much a report gives away on average",
    "renyi-privacy": "How much a report gives away, the worst counting more",
    "concentrated-privacy": "How often a report gives much away",
    "bounded-range": "How unequal reports are in what they give away",
    "gaussian": "Which noisy meter reveals as much as a report",
    "trade-off": "How often tests of two secrets go wrong",
    "event-ratio": "How much a fact changes the reports",
    "positive-membership": "How much more credible a fact can become",
    "negative-membership": "How much less credible a fact can become",
    "membership": "How much more or less credible a fact can become",
    "adversarial": "How much more credible a fact can become, a small step aside",
    "noiseless": "How well an attacker with the data can distinguish two values",
    "aposteriori-noiseless": "How much more or less probable a value can become",
    "inferential": "How far the odds of two values can move",
    "identity": "How far the odds of whom it is about can move",
    "information": "How much more or less probable a secret can become",
    "semantic": "How much it matters that your record was used",
    "causal": "How much changing one record changes the reports",
    "inference-based-causal": "How far the influence of one record changes beliefs about it",
    "pufferfish": "How well a fact and its rival can be distinguished",
    "distribution-privacy": "How well the habits of two people can be distinguished",
    "probabilistic-distribution-privacy": "How well two habits can be distinguished, rare reports aside",
    "metric-distribution-privacy": "How well two habits can be distinguished, by their distance",
    "divergence-distribution-privacy": "How differently two habits are reported",
    "divergence-metric-distribution-privacy": "How differently two habits are reported, by their distance",
    "distortion": "How far the best attacker is off on average",
}
"""The meaning of the number of each definition, in plain words; others show their question."""


def notions_answer(domain: Domain, epsilon: float) -> NotionsAnswer:
    """Return all definitions, with those marked whose limit at this epsilon means something."""
    claim = domain.claim(epsilon)
    notions = [_notion(claim, key) for key in NOTION_KEYS]
    if domain.places and domain.epsilon_unit:
        exact = {
            "meaningful": domain.exponent(epsilon) <= MEANINGFUL,
            "value": at_epsilon(epsilon, domain.distance_unit),
            "sentence": short_words(domain.promise(epsilon), domain.subject),
        }
        notions = [
            notion.model_copy(update=exact) if notion.key == "metric-privacy" else notion for notion in notions
        ]
    count = sum(notion.meaningful for notion in notions)
    return NotionsAnswer(
        notions=notions,
        sentence=f"At this level {count} of {len(notions)} definitions give a meaningful limit: a number of at "
        f"most {MEANINGFUL:g}, a factor of about 20, for any two secrets of the workspace; for differences of "
        f"probabilities at most {_MEANINGFUL_SHARE:g}.",
    )


def _notion(claim: Claim, key: str) -> NotionAnswer:
    known = VOCABULARY[key]
    title = {"key": key, "title": known.title, "plain": PLAIN.get(key, known.question)}
    try:
        implied = convert(claim, to=key).claim
    except InputError as error:
        return NotionAnswer(**title, meaningful=False, value="", sentence=error.problem)
    numbers = {name: value for name, value in implied.numbers.items() if value and name != "order"}
    most = _MEANINGFUL_SHARE if key in _SHARES else MEANINGFUL
    if not implied.numbers:  # a curve, which is as strong as the claim that it follows from
        strong = claim.numbers["epsilon"] <= MEANINGFUL
        return NotionAnswer(**title, meaningful=strong, value="given by a curve", sentence=implied.sentence)
    return NotionAnswer(
        **title,
        meaningful=all(value <= most for value in numbers.values()),
        value=", ".join(f"{name} {at_most(value)}" for name, value in numbers.items()),
        sentence=implied.sentence,
    )
