"""Plain titles of the notions of privacy, and the group that each belongs to, for people who know none of them."""

from __future__ import annotations

from typing import Final

from ..privacy import beliefs, curves, distributions, point

PLAIN: Final = {
    "differential-privacy": "Any two secrets are hard to tell apart",
    "probabilistic-differential-privacy": "Two secrets are hard to tell apart, rare reports aside",
    "indistinguishable": "No report moves the odds of two secrets far",
    "metric-privacy": "The nearer two secrets, the harder to tell apart",
    "divergence-privacy": "Two secrets are reported alike",
    "divergence-metric-privacy": "The nearer two secrets, the more alike their reports",
    "kl-privacy": "A report gives little away on average",
    "renyi-privacy": "A report seldom gives much away",
    "concentrated-privacy": "The more a report gives away, the rarer it is",
    "bounded-range": "All reports give away about equally much",
    "gaussian": "Telling two secrets apart is like reading a noisy meter",
    "trade-off": "Every test of two secrets errs often",
    "event-ratio": "Whether a fact holds changes the reports little",
    "positive-membership": "No fact becomes much more credible",
    "negative-membership": "No fact becomes much less credible",
    "membership": "No fact becomes much more or less credible",
    "adversarial": "No fact becomes much more credible, a small step aside",
    "noiseless": "Two values are hard to tell apart for who knows the data",
    "aposteriori-noiseless": "No value becomes much more or less probable",
    "inferential": "The odds of two values move little",
    "identity": "The odds of whom it is about move little",
    "information": "No secret becomes much more or less probable",
    "semantic": "It matters little that your record was used",
    "causal": "Changing one record changes the reports little",
    "pufferfish": "A fact and its rival are hard to tell apart",
    "distribution-privacy": "The habits of two people are hard to tell apart",
    "probabilistic-distribution-privacy": "Two habits are hard to tell apart, rare reports aside",
    "metric-distribution-privacy": "The more alike two habits, the harder to tell apart",
    "divergence-distribution-privacy": "Two habits are reported alike",
    "divergence-metric-distribution-privacy": "The more alike two habits, the more alike their reports",
    "distortion": "The best attacker errs far on average",
}
"""The idea of each notion in plain words; its number says how much."""

_GROUPS: Final = (
    ("Telling two secrets apart", (*point.NOTIONS, *curves.NOTIONS)),
    ("Changing what somebody believes", beliefs.NOTIONS),
    ("Telling habits apart, and errors", distributions.NOTIONS),
)

GROUPS: Final = {
    **{kind.description.key: title for title, kinds in _GROUPS for kind in kinds},
    "distortion": _GROUPS[-1][0],
}
"""The group of each notion: about two secrets, about beliefs, or about habits and errors."""
