"""The catalogue of the studio's sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Blend
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
    exactly,
    factor_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    up,
)

from .answers import MeasuredAnswer
from .grounds import PlacesGround, StudioGround, ValuesGround

_USELESS: Final = 0.999  # a limit of a chance that limits nothing
_USELESS_EXPONENT: Final = 6.9  # with it, 50 % may become 99.9 %


@dataclass(frozen=True, slots=True, repr=False)
class StudioWords(CompactRepr):
    """The sentences about one ground."""

    ground: StudioGround

    @property
    def _places(self) -> bool:
        return isinstance(self.ground, PlacesGround)

    @property
    def _ordered(self) -> bool:
        """Whether secrets are numbers, with errors in their unit."""
        return isinstance(self.ground, ValuesGround) and self.ground.ordered

    @property
    def _per(self) -> str:
        """The unit of epsilon behind a number: ``/km``, or nothing."""
        return self.ground.epsilon_unit.removeprefix("1")

    @property
    def _way(self) -> str:
        """The way that differences of numbers on a circle are counted."""
        return ", the shorter way around the circle" if self.ground.space.circle else ""

    def loss(self, found: Bracket) -> MeasuredAnswer:
        """Return a loss, stated by its upper end."""
        if self._places:
            said = f"On average you appear at most {amount_at_most(found.upper, 'm')} from your true position."
        elif self._ordered:
            said = f"On average the report is off by at most {at_most(found.upper, 3)}{self._way}."
        else:
            shown = percent_at_most(min(found.upper, 1.0))
            said = f"At most {shown} of the answers name another value than the true one."
        return _measured(found, self.ground.loss_unit, said)

    def error(self, found: Bracket | None) -> MeasuredAnswer | None:
        """Return an attacker's error, stated by its lower end."""
        if found is None:
            return None
        least = amount_at_least(max(found.lower, 0.0), "m" if self._places else "")
        way = ", for any guess" if self._places else self._way
        said = f"The best attacker's average error is at least {least}{way}."
        return _measured(found, self.ground.loss_unit, said)

    def found(self, found: Bracket) -> MeasuredAnswer:
        """Return how often an attacker finds the secret, stated by its upper end."""
        what = "guesses the true value"
        if isinstance(self.ground, PlacesGround):
            what = f"is within {exactly(self.ground.radius_m)} m of your true position"
        said = f"The best attacker {what} at most {percent_at_most(min(found.upper, 1.0))} of the time."
        if found.upper >= _USELESS:
            said = f"No useful limit is proved on how often the best attacker {what}."
        return _measured(Bracket(max(found.lower, 0.0), found.value, min(found.upper, 1.0)), "", said)

    def bound(self, value: float | None) -> MeasuredAnswer:
        """Return the lower bound of the loss of such mechanisms."""
        lowest = -math.inf if value is None else value
        unit = self.ground.loss_unit
        shown = amount_at_least(max(lowest, 0.0), unit) if unit else at_least(max(lowest, 0.0), 3)
        if not self._places and not self._ordered:
            shown = percent_at_least(max(lowest, 0.0))
        what = "with this guarantee"
        if self._places:
            what = "on these places, with the rows that prove the guarantee,"
        said = (
            f"No mechanism {what} has an average loss below {shown}."
            if value is not None
            else "No bound is known."
        )
        found = Bracket(lowest, max(lowest, 0.0), math.inf)
        return MeasuredAnswer(lower=_json(found.lower), value=found.value, upper=None, unit=unit, sentence=said)

    def odds(self, epsilon: float) -> str:
        """Return the meaning of an epsilon for two secrets."""
        exponent = self.ground.exponent(epsilon)
        times = factor_at_most(exponent)
        limit = (
            f"Someone who thought both equally likely is then at most {even_belief_at_most(exponent)} sure of one."
        )
        if exponent >= _USELESS_EXPONENT:
            limit = "There is no useful limit on how sure someone may become of one of them."
        pair, more = "any two values", ""
        if self._places:
            pair, more = "two points 1 km apart", " Closer points are harder to distinguish."
        elif isinstance(self.ground, ValuesGround) and self.ground.per_unit and self.ground.ordered:
            pair = f"two numbers 1 apart{self._way}"
        return f"For {pair}, a report is at most {times} times as likely from one as from the other. {limit}{more}"

    def blended(self, blend: Blend, epsilon: float) -> list[str]:
        """Return the definition and the guarantee of an interpolated mechanism."""
        low, high = about(blend.lower.epsilon), at_most(blend.upper.epsilon)
        return [
            f"Interpolated for epsilon {about(epsilon)}{self._per}: a preview of a mechanism that uses one of two "
            "proved designs, chosen at random. Its guarantee is the larger epsilon of the two, at most "
            f"{high}{self._per}; the smaller one is {low}{self._per}.",
            self.odds(blend.upper.epsilon),
        ]

    def certified(self, epsilon: float, *, finished: bool, status: str) -> list[str]:
        """Return the guarantee and the state of a proved design."""
        said = [f"Proved, on the integers that are sampled: epsilon is at most {at_most(epsilon, 6)}{self._per}."]
        if not finished:
            said.append(f"Not finished: {status}. The guarantee is proved all the same.")
        return [*said, self.odds(epsilon)]

    def same_for_all(self) -> str:
        """Return that a mechanism is little more useful than one report for everybody."""
        what = "place" if self._places else "value"
        return (
            f"Reporting one {what} for everybody loses at most about 0.5 % more: reports at this epsilon "
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
        what = "place" if self._places else "value"
        guessed = f"the reported {what}" if guess == report else f"not the reported {what}, but another"
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
        """Return the attacker's knowledge of a walk, and the epsilon of its reports together.

        The attacker knows the largest distance of consecutive stops, ``near``, in the unit of the loss.
        """
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

    def attacked(self) -> list[str]:
        """Return the three attackers, and how their errors are counted."""
        known, counting = "each value occurs", "To find you is to name the true value."
        if self._places:
            known = "people are at each place"
            counting = (
                "Errors are counted from the place of the map that you are rounded to, not from your position. To "
                "find you is to name that place."
            )
        return [
            f"Expected: knows how often {known}, as in the data, which are true.",
            "Mistaken: believes your suspicion, but the data are true.",
            "Right: believes your suspicion, which is true, though the mechanism was made for the data.",
            counting,
        ]

    def attacker(self, error: Bracket | None, found: Bracket) -> tuple[MeasuredAnswer | None, MeasuredAnswer]:
        """Return the computed error and success of one of three attackers; these are no bounds."""
        hits = f"They find you {about_percent(min(found.value, 1.0))} of the time."
        said = None
        if error is not None:
            shown = amount(error.value, "m")
            said = _measured(error, self.ground.loss_unit, f"Their average error is about {shown}.")
        return said, _measured(found, "", hits)

    def chosen(self, epsilon: float | None, *, loss: float | None, found: float | None) -> str:
        """Return the epsilon that reaches an outcome, or that none does."""
        wanted = (
            f"a loss of at most {self._amount(loss)}"
            if loss is not None
            else f"at most {percent(found or 0.0)} found"
        )
        if epsilon is None:
            return f"None of the designs reaches {wanted}."
        way = "smallest" if loss is not None else "largest"
        return (
            f"About epsilon {about(epsilon)}{self._per} is the {way} with {wanted}, interpolated between proved "
            "designs."
        )

    def compared(self, *, equal: str, value: float, visits: int | None) -> str:
        """Return the common loss or epsilon of compared mechanisms."""
        on = "" if visits is None else f", measured on {counted(visits, 'visit')}"
        if equal == "loss":
            loss = f"{self._nearly(value)}{self._way}{on}"
            return (
                f"All mechanisms are compared at a loss of {loss}. At the same loss, the "
                "one with the larger error of the attacker protects better."
            )
        return (
            f"All mechanisms are compared at epsilon {about(value)}{self._per}{on}. At the same epsilon, the one "
            "with the smaller loss costs less."
        )

    def too_dear(self, loss: float) -> tuple[str, str]:
        """Return why a loss is too large to compare mechanisms at, and a hint."""
        what, blind = "place" if self._places else "value", self.ground.loss_of_nothing
        message = (
            f"A loss of {self._amount(loss)} was chosen, but always reporting the same {what} loses about "
            f"{self._amount(blind)} and reveals nothing."
        )
        return message, f"choose less privacy, with a loss below {self._least(blind)}."

    def contestant(
        self, name: str, epsilon: float, loss: Bracket | None, error: Bracket | None, detail: str, problem: str
    ) -> dict[str, Any]:
        """Return one of several compared mechanisms, with its proved epsilon (infinite for no guarantee).

        The problem is why there is no such mechanism, or why it is not the best of its kind.
        """
        promise = (
            f"Epsilon is at most {at_most(epsilon)}{self._per}." if math.isfinite(epsilon) else "No guarantee."
        )
        if math.isinf(epsilon) and self._places and not problem:
            promise = "No guarantee for two points near each other: they may be on two sides of a border."
        return {
            "name": name,
            "epsilon": _json(epsilon),
            "loss": self._about("Loses", loss),
            "error": self._about("The attacker's error is", error),
            "promise": promise,
            "detail": detail,
            "problem": problem,
        }

    def _about(self, what: str, found: Bracket | None) -> dict[str, Any] | None:
        if found is None or not math.isfinite(found.value):
            return None
        said = f"{what} {self._nearly(found.value)} on average."
        if found.upper == math.inf and math.isfinite(found.lower):
            least = self._least(found.lower)
            said = f"No mechanism with this epsilon or a smaller one loses less than {least} on average."
        return _measured(found, self.ground.loss_unit, said).model_dump()

    def _least(self, value: float) -> str:
        """Return a loss, rounded down."""
        lowest = max(value, 0.0)
        if self._places:
            return amount_at_least(lowest, "m")
        return at_least(lowest, 3) if self._ordered else percent_at_least(lowest)

    def _nearly(self, value: float) -> str:
        shown = self._amount(value)
        return shown if shown.startswith("under") else f"about {shown}"

    def _amount(self, value: float) -> str:
        if self._places:
            return amount(value, "m")
        return about(value, 3) if self._ordered else percent(value)


def _measured(found: Bracket, unit: str, sentence: str) -> MeasuredAnswer:
    return MeasuredAnswer(
        lower=_json(found.lower), value=found.value, upper=_json(found.upper), unit=unit, sentence=sentence
    )


def _json(value: float) -> float | None:
    return value if math.isfinite(value) else None
