"""Sentences of the studio about one domain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr
from sfumato.proofs import radius_words
from sfumato.rounding import (
    about,
    about_percent,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_most,
    counted,
    even_belief_at_most,
    factor_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    up,
)

from .answers import Attacker, BaselineAnswer, MeasuredAnswer, SharesAnswer
from .domains import Domain
from .levels import QUANTILE, number
from .store import Row

_USELESS: Final = 0.999  # a limit of a chance that limits nothing
_USELESS_EXPONENT: Final = 6.9  # with it, 50 % may become 99.9 %
_EXPLANATIONS: Final = {
    "optimum": "The mechanism of least loss, by linear programming.",
    "exponential": "The nearer a value, the more probable; half of epsilon pays for the normalization.",
    "geometric": "Noise on whole numbers, cut off at both ends.",
    "tight constraints": "Every pair of values uses all of epsilon.",
    "randomised response": "The truth with a fixed chance, otherwise any other value.",
    "least information": "The least mutual information at this loss.",
    "coin": "The truth with a fixed chance, otherwise always the same value.",
    "planar geometric": "Planar noise on the places.",
    "planar Gaussian": "Planar noise of a Gaussian shape.",
    "elastic": "More noise where few people are.",
    "restricted Laplace": "Noise within a radius, which rules out far values.",
    "program, spline": "Optimized for these visits on a square lattice.",
    "program, hat": "Optimized for these visits on a triangular lattice.",
    "planar Laplace": "Planar noise.",
    "cells": "Optimized for cells, with no guarantee across a border.",
    "any mechanism": "A bound for every mechanism with this guarantee.",
}
_REMAPPED: Final = " + remap"
YOURS: Final = "yours"


@dataclass(frozen=True, slots=True, repr=False)
class StudioWords(CompactRepr):
    """The sentences about one domain."""

    domain: Domain

    @property
    def _places(self) -> bool:
        return self.domain.places

    @property
    def _ordered(self) -> bool:
        """Whether secrets are numbers, with errors in their unit."""
        return self.domain.ordered

    @property
    def _noun(self) -> str:
        return "place" if self._places else "value"

    @property
    def _per(self) -> str:
        """The unit of epsilon behind a number: ``/km``, or nothing."""
        return self.domain.epsilon_unit.removeprefix("1")

    @property
    def _way(self) -> str:
        """The way that differences of numbers on a circle are counted."""
        return ", the shorter way around the circle" if self.domain.space.circle else ""

    def loss(self, loss: Bracket) -> MeasuredAnswer:
        """Return a loss, stated by its upper end, with that of one report for everybody."""
        most = self._most(loss.upper)
        if self._places:
            said = f"On average you appear at most {most} from {self.domain.truth}."
        elif self._ordered:
            said = f"On average the report is off by at most {most}{self._way}."
        else:
            said = f"At most {most} of the answers name another value than the true one."
        blind = self.domain.loss_of_nothing
        without = f"Always reporting one {self._noun}: about {self._amount(blind)}."
        return self._measured(loss, self.domain.loss_unit, f"at most {most}", said, blind, without)

    def error(self, error: Bracket | None) -> MeasuredAnswer | None:
        """Return an attacker's average error, stated by its lower end, with that without a report."""
        if error is None:
            return None
        least = self._least(error.lower)
        said = f"The best attacker's average error is at least {least}{self._way}."
        blind = self.domain.blind.error
        without = "" if blind is None else f"Without the report: about {self._amount(blind.value)}."
        before = None if blind is None else blind.value
        return self._measured(error, self.domain.loss_unit, f"at least {least}", said, before, without)

    def found(self, found: Bracket) -> MeasuredAnswer:
        """Return how often an attacker finds the secret, stated by its upper end, with that without a report."""
        what, most = self.domain.target, percent_at_most(min(found.upper, 1.0))
        text, said = f"at most {most}", f"The best attacker {what} at most {most} of the time."
        if found.upper >= _USELESS:
            text, said = "no useful limit", f"No useful limit is proved on how often the best attacker {what}."
        share = Bracket(max(found.lower, 0.0), found.value, min(found.upper, 1.0))
        blind = min(self.domain.blind.found.value, 1.0)
        return self._measured(share, "", text, said, blind, f"Without the report: about {percent(blind)}.")

    def baseline(self) -> BaselineAnswer:
        """Return the loss of one report for everybody, and the success of an attacker without a report."""
        blind, nothing = self.domain.blind, self.domain.loss_of_nothing
        unit, lost, text = (
            self.domain.loss_unit,
            self._amount(nothing),
            f"at most {percent_at_most(min(blind.found.upper, 1.0))}",
        )
        error = None
        if blind.error is not None:
            off = self._amount(blind.error.value)
            error = self._measured(blind.error, unit, off, f"Without a report: about {off}.")
        share = Bracket(max(blind.found.lower, 0.0), min(blind.found.value, 1.0), min(blind.found.upper, 1.0))
        always = Bracket(nothing, nothing, math.inf)
        return BaselineAnswer(
            loss=self._measured(always, unit, lost, f"Always reporting one {self._noun}: {lost}."),
            error=error,
            found=self._measured(share, "", text, f"Without a report: {text}."),
        )

    def epsilon(self, epsilon: float) -> str:
        """Return a proved epsilon with its unit."""
        return f"epsilon at most {at_most(epsilon, 3)}{self._per}"

    def headline(self, epsilon: float) -> str:
        """Return the proved guarantee of the mechanism shown."""
        exponent, begin = self.domain.exponent(epsilon), f"For {self.domain.pair}"
        if exponent > _USELESS_EXPONENT:
            return f"{begin} there is no useful limit."
        return f"{begin}, a belief of 50 % becomes at most {even_belief_at_most(exponent)}."

    def odds(self, epsilon: float) -> str:
        """Return what a guarantee says of the odds and of a belief."""
        exponent = self.domain.exponent(epsilon)
        times = "any number of times" if exponent > 700 else f"{factor_at_most(exponent)} times"
        limit = (
            "This is no useful limit."
            if exponent > _USELESS_EXPONENT
            else "Someone who thought both equally likely can become at most "
            f"{even_belief_at_most(exponent)} sure of one of them."
        )
        more = " Closer points are harder to distinguish." if self._per else ""
        return (
            f"For {self.domain.pair}{self._way if self._ordered else ''}, a report is at most {times} as likely "
            f"from one as from the other. {limit}{more}"
        )

    def level(self, row: Row, *, useful: bool) -> list[str]:
        """Return the guarantee of a design, and what is missing of it."""
        facts = row["facts"]
        said = [
            f"Proved on the integers that are sampled: epsilon at most {at_most(facts['proved'], 6)}{self._per}."
        ]
        if not facts["finished"]:
            said.append(f"Not finished: {facts['status']}. The guarantee is proved all the same.")
        said.append(self.odds(facts["proved"]))
        return said if useful else [self.same_for_all(), *said]

    def shares(self, row: Row, people: int) -> SharesAnswer | None:
        """Return the accuracy of the shares that so many reports give; None for places."""
        facts = row["facts"]["shares"]
        if facts is None:
            return None
        many = counted(people, "person", "people")
        if facts["deviation"] is None:
            return SharesAnswer(
                people=people,
                half_width=None,
                estimable=False,
                sentence="The share of each value cannot be estimated from these reports, however many there are.",
            )
        width = min(1.0, QUANTILE * facts["deviation"] / math.sqrt(people))
        p = self.domain.prior.probabilities
        without = QUANTILE * math.sqrt(float((p * (1 - p)).max()) / people)
        text, bare = f"\u00b1 {percent(width)}", percent(without)
        few = people < (facts["least_reports"] or math.inf)
        said = f"With {many} like those in the data, each share is known to about {text} (95 % interval)."
        if few:
            width, text = 1.0, "no useful limit"
            least = counted(math.ceil(facts["least_reports"] or 0), "report")
            said = f"{many} are too few: it takes about {least} until each share is better than a guess."
        half = self._measured(
            Bracket(0.0, width, width), "", text, said, without, f"Without noise: \u00b1 {bare}."
        )
        return SharesAnswer(people=people, half_width=half, estimable=not few, sentence=said)

    def takeaway(self, radius_m: float | None) -> list[str]:
        """Return what the files of a mechanism hold, and the error radius of its reports where one is proved."""
        what = "each place of your data is visited" if self._places else "each value of your data occurs"
        return [
            *([] if radius_m is None else [radius_words(radius_m)]),
            f"The mechanism file holds how often {what}: keep it as secret as the data, or use public data.",
            "Anyone with the mechanism file can prove the guarantee again: sfumato report mechanism.sfm.",
        ]

    def warnings(self, row: Row, shares: SharesAnswer | None, *, useful: bool) -> list[str]:
        """Return why a mechanism should not be used as it is."""
        warnings = [] if useful else [self.same_for_all()]
        if self.domain.exponent(row["facts"]["proved"]) > _USELESS_EXPONENT:
            warnings.append(self.odds(row["facts"]["proved"]))
        if shares is not None and not shares.estimable:
            warnings.append(shares.sentence)
        return warnings

    def same_for_all(self) -> str:
        """Return that a mechanism is little more useful than one report for everybody."""
        return (
            f"Reporting one {self._noun} for everybody loses at most about 0.5 % more: reports at this epsilon "
            "are useless. Choose a larger one."
        )

    def here(self, mean_loss: float) -> str:
        """Return the average loss at a position."""
        if self._places:
            return f"From here, you appear about {amount(mean_loss, 'm')} away on average."
        if self._ordered:
            return f"With this value, the report is off by about {about(mean_loss, 3)} on average{self._way}."
        return f"With this value, {about_percent(min(mean_loss, 1.0))} of the reports name another one."

    def belief(self, report: int, guess: int, before: float, after: float) -> str:
        """Return the attacker's best guess after one report."""
        guessed = f"{'' if guess == report else 'not '}the reported {self._noun}"
        guessed += "" if guess == report else ", but another"
        return (
            f"After this report the attacker's best guess is {guessed}, with probability {percent(after)} "
            f"({percent(before)} before the report)."
        )

    def never(self) -> str:
        """Return that a report is never made."""
        return "This is never reported, or too rarely to be shown here: the attacker learns nothing from it."

    def shared(self, times: int, same: int, mean_loss: float) -> str:
        """Return the average loss of several reports from one position."""
        each = counted(times, "report")
        if self._places:
            return (
                f"{each}, drawn with the operating system's randomness: {amount(mean_loss, 'm')} from you on "
                "average. Together they reveal more than one report: their epsilons add up."
            )
        off = f": off by {about(mean_loss, 3)} on average{self._way}" if self._ordered else ""
        return f"{each}{off}, {same} of them true. Their epsilons add up."

    def step(self, number: int, chance: float, off: float) -> str:
        """Return the attacker's belief after one report of a walk."""
        begin, shown = f"After report {number} the attacker gives", percent(min(chance, 1.0))
        if self._places:
            return f"{begin} your true place a chance of {shown}. Their best guess is {amount(off, 'm')} away."
        return f"{begin} the true value a chance of {shown}."

    def walked(self, reports: int, epsilon: float, *, moving: bool, near: float) -> str:
        """Return the attacker's knowledge of a walk, and the epsilon of its reports together."""
        total = at_most(up(reports * epsilon))
        several = counted(reports, "report")
        adds = f"Together {several} have epsilon at most {total}{self._per}, {reports} times one report."
        apart = f"{amount(near, 'm') if self._places else about(near, 3)} apart{self._way}"
        how = (
            f"The attacker knows that consecutive stops are at most {apart}, and "
            f"how often {'people are at each place' if self._places else 'each value occurs'}."
            if moving
            else "The attacker knows that all reports come from one place."
            if self._places
            else "The attacker knows that all reports are of one value."
        )
        return f"{how} {adds}"

    def attackers(self) -> dict[Attacker, str]:
        """Return what each of three attackers knows."""
        known = "people are at each place" if self._places else "each value occurs"
        return {
            "expected": f"Knows how often {known}, as in the data.",
            "mistaken": "Believes your suspicion, but the data are true.",
            "right": "Believes your suspicion, which is true, though the mechanism was made for the data.",
        }

    def attacked(self) -> list[str]:
        """Return how the errors of these attackers are counted."""
        if not self._places:
            return ["To find you is to name the true value."]
        return [
            "Errors are counted from the place of the map that you are rounded to, not from your position. To "
            "find you is to name that place."
        ]

    def attacker(self, error: Bracket | None, found: Bracket) -> tuple[MeasuredAnswer | None, MeasuredAnswer]:
        """Return the computed error and success of one of three attackers; these are no bounds."""
        chance, blind = about_percent(min(found.value, 1.0)), float(self.domain.prior.probabilities.max())
        without = f"Without the report: {about_percent(blind)}."
        hits = self._measured(found, "", chance, f"They find you {chance} of the time.", blind, without)
        if error is None:
            return None, hits
        off = self._amount(error.value)
        return self._measured(error, self.domain.loss_unit, off, f"Their average error is about {off}."), hits

    def chosen(self, epsilon: float | None, wanted: str, best: str) -> str:
        """Return the level that reaches an outcome, or the best that is reached."""
        if epsilon is None:
            return f"No level reaches {wanted} (best: {best})."
        return f"The level with epsilon at most {at_most(epsilon, 3)}{self._per} reaches {wanted}."

    def outcome(self, loss: float | None, found: float | None, width: float | None) -> str:
        """Return a wanted outcome in words."""
        if loss is not None:
            return f"a loss of at most {self._amount(loss)}"
        if found is not None:
            return f"at most {percent(found)} found"
        return f"shares within {percent(width or 0.0)}"

    def compared(self, *, equal: str, value: float, visits: int | None) -> str:
        """Return the common loss or epsilon of compared mechanisms."""
        on = "" if visits is None else f", measured on {counted(visits, 'visit')}"
        if equal == "loss":
            same = f"All mechanisms are compared at a loss of {self._nearly(value)}{self._way}{on}."
            return f"{same} At the same loss, the one with the larger error of the attacker protects better."
        same = f"All mechanisms are compared at epsilon {about(value)}{self._per}{on}."
        return f"{same} At the same epsilon, the one with the smaller loss costs less."

    def too_dear(self, loss: float) -> tuple[str, str]:
        """Return why a loss is too large to compare mechanisms at, and a hint."""
        blind = self.domain.loss_of_nothing
        message = (
            f"A loss of {self._amount(loss)} was chosen, but always reporting the same {self._noun} loses about "
            f"{self._amount(blind)} and reveals nothing."
        )
        return message, f"choose less privacy, with a loss below {self._least(blind)}."

    def contestant(
        self, name: str, epsilon: float, loss: Bracket | None, error: Bracket | None, detail: str, problem: str
    ) -> dict[str, Any]:
        """Return one of several compared mechanisms, with its proved epsilon (infinite for no guarantee)."""
        promise = (
            f"Epsilon is at most {at_most(epsilon)}{self._per}." if math.isfinite(epsilon) else "No guarantee."
        )
        if math.isinf(epsilon) and self._places and not problem:
            promise = "No guarantee for two points near each other: they may be on two sides of a border."
        explanation = _EXPLANATIONS.get(name.removesuffix(_REMAPPED), "")
        if name.endswith(_REMAPPED):
            explanation += " Each report is then replaced by the best one."
        return {
            "name": name,
            "yours": name == YOURS,
            "explanation": "The mechanism of this level." if name == YOURS else explanation,
            "epsilon": number(epsilon),
            "loss": self._about("Loses", loss),
            "error": self._about("The attacker's error is", error),
            "promise": promise,
            "detail": detail,
            "problem": problem,
        }

    def _about(self, what: str, measure: Bracket | None) -> dict[str, Any] | None:
        if measure is None or not math.isfinite(measure.value):
            return None
        text = self._nearly(measure.value)
        said = f"{what} {text} on average."
        if measure.upper == math.inf and math.isfinite(measure.lower):
            least = self._least(measure.lower)
            text = f"at least {least}"
            said = f"No mechanism with this epsilon or a smaller one loses less than {least} on average."
        return self._measured(measure, self.domain.loss_unit, text, said).model_dump()

    def _least(self, value: float) -> str:
        """Return a length, a difference or a share, rounded down."""
        lowest = max(value, 0.0)
        if self._places:
            return amount_at_least(lowest, "m")
        return at_least(lowest, 3) if self._ordered else percent_at_least(lowest)

    def _most(self, value: float) -> str:
        """Return a length, a difference or a share, rounded up."""
        if self._places:
            return amount_at_most(value, "m")
        return at_most(value, 3) if self._ordered else percent_at_most(min(value, 1.0))

    def _nearly(self, value: float) -> str:
        shown = self._amount(value)
        return shown if shown.startswith("under") else f"about {shown}"

    def _amount(self, value: float) -> str:
        if self._places:
            return amount(value, "m")
        return about(value, 3) if self._ordered else percent(value)

    @staticmethod
    def _measured(
        measure: Bracket, unit: str, text: str, sentence: str, baseline: float | None = None, without: str = ""
    ) -> MeasuredAnswer:
        return MeasuredAnswer(
            lower=number(measure.lower),
            value=measure.value,
            upper=number(measure.upper),
            unit=unit,
            text=text,
            sentence=sentence,
            baseline=baseline,
            baseline_sentence=without,
        )
