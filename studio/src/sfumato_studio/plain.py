"""Plain titles of notions of privacy, and the group that each belongs to, for people who know none of them."""

from __future__ import annotations

from typing import Final

from sfumato.privacy import beliefs, curves, distributions, point

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
    "pufferfish": "How well a fact and its rival can be distinguished",
    "distribution-privacy": "How well the habits of two people can be distinguished",
    "probabilistic-distribution-privacy": "How well two habits can be distinguished, rare reports aside",
    "metric-distribution-privacy": "How well two habits can be distinguished, by their distance",
    "divergence-distribution-privacy": "How differently two habits are reported",
    "divergence-metric-distribution-privacy": "How differently two habits are reported, by their distance",
    "distortion": "How far the best attacker is off on average",
}
"""What the number of each notion measures, in plain words; a notion that is not here shows its question."""

_GROUPS: Final = (
    ("Distinguishing two secrets", (*point.NOTION_CLASSES, *curves.NOTION_CLASSES)),
    ("Changing an attacker's belief", beliefs.NOTION_CLASSES),
    ("Distinguishing habits, and errors", distributions.NOTION_CLASSES),
)

GROUPS: Final = {kind.description.key: title for title, kinds in _GROUPS for kind in kinds}
"""The group of each notion that these rooms have."""

REST: Final = _GROUPS[-1][0]
"""The group of all others."""
