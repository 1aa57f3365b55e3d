"""The notions as claims name them: which numbers a claim states, and about what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Word:
    """What a claim about one notion may say.

    Attributes:
        key: The notion's key.
        title: Its name in texts.
        numbers: The names of its numbers; the first is the one that `Notion.measure` finds.
        defaults: The numbers that may be left out.
        context: What else the claim is about, by name.
        required: The parts of the context that cannot be left out.
        text: The promise in plain words; ``{about}`` is the relation or metric.
    """

    key: str
    title: str
    numbers: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    defaults: dict[str, float] = field(default_factory=dict)
    required: tuple[str, ...] = ()


_DELTA: Final = {"delta": 0.0}
_UNKNOWN: Final = {"fall": float("inf"), "rise": float("inf")}


def _words() -> dict[str, Word]:
    words = [
        Word(
            "differential-privacy",
            "differential privacy",
            ("epsilon", "delta"),
            ("relation",),
            "no set of reports is more than e^{epsilon} times as likely for one of {about} as for the "
            "other{up_to}",
            _DELTA,
        ),
        Word(
            "probabilistic-differential-privacy",
            "probabilistic differential privacy",
            ("epsilon", "delta"),
            ("relation",),
            "apart from reports that together have a probability of at most {delta}, no report is more than "
            "e^{epsilon} times as likely "
            "for one of {about} as for the other",
            _DELTA,
        ),
        Word(
            "metric-privacy",
            "metric privacy",
            ("epsilon", "delta"),
            ("metric", "relation"),
            "no set of reports is more than e^({epsilon} d) times as likely for one of {about} as for the "
            "other{up_to}; d is their distance{unit}",
            _DELTA,
            ("metric",),
        ),
        Word(
            "divergence-privacy",
            "divergence privacy",
            ("epsilon",),
            ("divergence", "relation"),
            "the {divergence} between the reports of {about} is at most {epsilon}",
            required=("divergence",),
        ),
        Word(
            "divergence-metric-privacy",
            "divergence privacy for a metric",
            ("epsilon",),
            ("divergence", "metric"),
            "the {divergence} between the reports of {about} is at most {epsilon} per unit of distance{unit}",
            required=("divergence", "metric"),
        ),
        Word(
            "kl-privacy",
            "KL privacy",
            ("epsilon",),
            ("relation",),
            "the expected privacy loss between {about} is at most {epsilon}",
        ),
        Word(
            "renyi-privacy",
            "Rényi privacy",
            ("epsilon", "order"),
            ("relation",),
            "the Rényi divergence of order {order} between the reports of {about} is at most {epsilon}",
        ),
        Word(
            "concentrated-privacy",
            "zero-concentrated privacy",
            ("rho",),
            ("relation",),
            "the Rényi divergence of every order a > 1 between the reports of {about} is at most a times {rho}",
        ),
        Word(
            "bounded-range",
            "bounded range",
            ("eta",),
            ("relation",),
            "over all reports the privacy loss between {about} varies by at most {eta}",
        ),
        Word(
            "trade-off",
            "a trade-off curve",
            (),
            ("curve", "relation"),
            "every test that tells {about} apart errs at least as much as the curve says",
            required=("curve",),
        ),
        Word(
            "gaussian",
            "Gaussian privacy",
            ("mu",),
            ("relation",),
            "telling {about} apart is at least as hard as telling two normal distributions apart whose means "
            "differ "
            "by {mu} standard deviations",
        ),
        Word(
            "indistinguishable",
            "indistinguishable privacy",
            ("epsilon",),
            ("relation",),
            "no report changes the odds between {about} by more than a factor e^{epsilon}",
        ),
        Word(
            "event-ratio",
            "a bounded likelihood ratio of events",
            ("rise", "fall"),
            ("priors", "events"),
            "no report is more than e^{rise} times, or less than e^-{fall} times, as likely when a fact holds "
            "as when "
            "it does not",
            _UNKNOWN,
        ),
        Word(
            "positive-membership",
            "positive membership privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report makes a fact more than e^{epsilon} times as probable, or its absence e^{epsilon} times "
            "less",
        ),
        Word(
            "negative-membership",
            "negative membership privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report makes a fact more than e^{epsilon} times less probable, or its absence e^{epsilon} "
            "times more",
        ),
        Word(
            "membership",
            "membership privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report changes the probability of a fact, or of its absence, by more than a factor e^{epsilon}",
        ),
        Word(
            "adversarial",
            "adversarial privacy",
            ("epsilon", "delta"),
            ("priors", "events"),
            "after any report a fact is at most e^{epsilon} times as probable as before, plus {delta}",
            _DELTA,
        ),
        Word(
            "noiseless",
            "noiseless privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report is more than e^{epsilon} times as likely for one value of the attribute as for another",
        ),
        Word(
            "aposteriori-noiseless",
            "a posteriori noiseless privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report changes the probability of a value of the attribute by more than a factor e^{epsilon}",
        ),
        Word(
            "inferential",
            "inferential privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report changes the odds between two values of the attribute by more than a factor e^{epsilon}",
        ),
        Word(
            "identity",
            "identity differential privacy",
            ("epsilon",),
            ("priors", "events"),
            "no report tells more than a factor e^{epsilon} about whose value the attribute is",
        ),
        Word(
            "semantic",
            "semantic privacy",
            ("epsilon",),
            ("maps", "possible"),
            "whatever was reported, beliefs differ by at most {epsilon} from those after a report without the "
            "record",
        ),
        Word(
            "information",
            "information privacy",
            ("epsilon",),
            ("priors",),
            "no report changes the probability of any secret by more than a factor e^{epsilon}",
        ),
        Word(
            "causal",
            "causal privacy",
            ("epsilon",),
            ("priors", "interventions"),
            "no report is more than e^{epsilon} times as likely after a record was set to one value as after "
            "it was "
            "set to another",
            required=("interventions",),
        ),
        Word(
            "pufferfish",
            "Pufferfish privacy",
            ("epsilon",),
            ("priors", "rivals"),
            "no report is more than e^{epsilon} times as likely given one fact as given its rival",
        ),
        Word(
            "distribution-privacy",
            "distribution privacy",
            ("epsilon", "delta"),
            ("relation", "family"),
            "no set of reports is more than e^{epsilon} times as likely under one of two distributions that a "
            "coupling of {about} joins as under the other{up_to}",
            _DELTA,
        ),
        Word(
            "probabilistic-distribution-privacy",
            "probabilistic distribution privacy",
            ("epsilon", "delta"),
            ("relation", "family"),
            "apart from reports that together have a probability of at most {delta}, no report is more than "
            "e^{epsilon} times as likely "
            "under one of two distributions that a coupling of {about} joins as under the other",
            _DELTA,
        ),
        Word(
            "metric-distribution-privacy",
            "distribution privacy for a metric",
            ("epsilon", "order", "delta"),
            ("metric",),
            "no set of reports is more than e^({epsilon} W) times as likely under one distribution of secrets as "
            "under another{up_to}; W is their Wasserstein distance of order {order}{unit}",
            _DELTA,
            ("metric",),
        ),
        Word(
            "divergence-distribution-privacy",
            "divergence privacy of distributions",
            ("epsilon",),
            ("divergence", "relation", "family"),
            "the {divergence} between the reports of two distributions that a coupling of {about} joins is at "
            "most "
            "{epsilon}",
            required=("divergence",),
        ),
        Word(
            "divergence-metric-distribution-privacy",
            "divergence privacy of distributions for a metric",
            ("epsilon", "order"),
            ("divergence", "metric"),
            "the {divergence} between the reports of two distributions of secrets is at most {epsilon} W; W is "
            "their "
            "Wasserstein distance of order {order}{unit}",
            required=("divergence", "metric"),
        ),
        Word(
            "distortion",
            "distortion privacy",
            ("minimum",),
            ("distance", "priors"),
            "the best attack errs by at least {minimum} on average",
            required=("distance",),
        ),
    ]
    return {word.key: word for word in words}


WORDS: Final = _words()
"""The vocabulary, by key."""
