"""Privacy by the randomness of the secret: in likelihoods, in posteriors and in odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ..notion import Description, Finding
from ..rows import AnyMechanism, channel
from .attackers import AgainstPriors, Events, Priors, events_on
from .posterior import OfFacts, both, compare_rivals, worst


@dataclass(frozen=True, slots=True)
class NoiselessPrivacy(AgainstPriors):
    """Noiseless privacy: p(o | a) <= e**epsilon p(o | a') for any two values of an attribute.

    p(o | a) = sum over s with value a of prior(s) p(o | s) / prior(a)

    The randomness of the secret counts like noise, so even a deterministic mechanism may satisfy it against
    attackers who know little. It is Pufferfish privacy with the values of the attribute as rivals; the
    probabilities of the values do not count. Facts that are not an attribute are each compared with their
    opposite.
    """

    description = Description(
        "noiseless",
        "noiseless privacy",
        question=(
            "By which factor can a report favour one value of an attribute over another, for someone who knows "
            "the prior?"
        ),
        promise="no report is more than e^{epsilon} times as likely for one value of the attribute as for another",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 33",
        context=("priors", "events"),
    )
    certainty = "some report rules out a value of the secret"
    limit = "every report is at most {factor} times as likely with one value of what is hidden as with another"

    priors: Priors
    events: Events | None = None

    @final
    def _measured(self, mechanism: AnyMechanism) -> Finding:
        events = events_on(self.events, len(channel(mechanism).matrix))
        return compare_rivals(self, mechanism, *events.rivals)


@final
@dataclass(frozen=True, slots=True)
class AposterioriNoiselessPrivacy(OfFacts):
    """A-posteriori noiseless privacy: e**-epsilon <= P[a | o in S] / P[a] <= e**epsilon.

    For a fixed prior it is membership privacy of the values of an attribute, because the probabilities of the
    other values sum to that of the opposite fact. Noiseless privacy implies it with the same epsilon; it implies
    noiseless privacy with twice its epsilon. Facts that are not an attribute count with their opposites.
    """

    description = Description(
        "aposteriori-noiseless",
        "a posteriori noiseless privacy",
        question="By which factor does a report change the probability of a value?",
        promise="no report changes the probability of a value of the attribute by more than a factor e^{epsilon}",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 39",
        context=("priors", "events"),
    )
    certainty = "some report decides a fact"
    limit = "a report multiplies or divides the probability of a value of what is hidden by at most {factor}"

    _rate = staticmethod(both)


@final
@dataclass(frozen=True, slots=True)
class InferentialPrivacy(NoiselessPrivacy):
    """Inferential privacy: a report changes the odds of any two values by at most e**epsilon.

    P[a | o] / P[a' | o] <= e**epsilon P[a] / P[a']

    By Bayes' rule the quotient of the odds is p(o | a) / p(o | a'), so this is noiseless privacy and the same
    number.
    """

    description = Description(
        "inferential",
        "inferential privacy",
        question=(
            "By which factor does a report change the odds of two values? (The epsilon of noiseless privacy.)"
        ),
        promise="no report changes the odds between two values of the attribute by more than a factor e^{epsilon}",
        source="Ghosh and Kleinberg, ITCS 2017",
        context=("priors", "events"),
    )
    on_request = True
    limit = "no report multiplies the odds between two values of what is hidden by more than {factor}"


@final
@dataclass(frozen=True, slots=True)
class IdentityPrivacy(NoiselessPrivacy):
    """Identity privacy: a report changes the odds of two values by at most e**epsilon.

    It is known as a Bayesian form of noiseless privacy, and is measured as such.
    """

    description = Description(
        "identity",
        "identity privacy",
        question="By which factor does a report change the odds of two people it may be about? (As for "
        "noiseless privacy.)",
        promise="no report changes the odds of two people it may be about by more than a factor e^{epsilon}",
        source="Desfontaines, 2.2.6",
        context=("priors", "events"),
    )
    on_request = True
    certainty = "some report identifies a value against another"
    limit = (
        "someone unsure between two values of what is hidden has odds, after any report, of at most {factor} "
        "times what they were"
    )


@final
@dataclass(frozen=True, slots=True)
class InformationPrivacy(AgainstPriors):
    """Information privacy: e**-epsilon <= P[s | o] / P[s] <= e**epsilon for all secrets s.

    epsilon = max over s and o of |ln(p(o|s) / p(o))|

    It is a-posteriori noiseless privacy of the secret itself, and so bounds every fact about it. With a prior that
    holds every secret possible it implies differential privacy of all pairs with twice its epsilon.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> InformationPrivacy(Priors.of(sf.Prior.uniform(coin.secrets))).measure(coin)
        Information privacy: epsilon 0.693147
    """

    description = Description(
        "information",
        "information privacy",
        question="By which factor does a report change the probability of any secret?",
        promise="no report changes the probability of any secret by more than a factor e^{epsilon}",
        source="du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41",
        context=("priors",),
    )
    certainty = "some report decides if a secret is the true one"
    limit = "a report multiplies or divides the probability of any fact about the secret by at most {factor}"

    priors: Priors

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        return worst(self, mechanism, None, both)
