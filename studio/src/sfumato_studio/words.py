"""The sentences of the studio, all in one place: of losses, attackers, shares, walks and the atlas."""

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
    """The sentences about one ground.

    Attributes:
        ground: What they are about.
    """

    ground: StudioGround

    @property
    def _places(self) -> bool:
        return isinstance(self.ground, PlacesGround)

    @property
    def _per(self) -> str:
        """The unit of epsilon behind a number: ``/km``, or nothing."""
        return self.ground.epsilon_unit.removeprefix("1")

    @property
    def _way(self) -> str:
        """The way that differences of numbers are counted, where they are on a circle."""
        return ", the shorter way around the circle" if self.ground.space.circle else ""

    def loss(self, found: Bracket) -> MeasuredAnswer:
        """Return a loss, stated by its upper end."""
        if self._places:
            said = f"On average you appear at most {amount_at_most(found.upper, 'm')} from where you truly are."
        elif isinstance(self.ground, ValuesGround) and self.ground.ordered:
            said = f"On average what is reported is off by at most {at_most(found.upper, 3)}{self._way}."
        else:
            said = f"At most {_share(found.upper)} of the answers name another value than the true one."
        return _measured(found, self.ground.loss_unit, said)

    def error(self, found: Bracket | None) -> MeasuredAnswer | None:
        """Return an attacker's error, stated by its lower end."""
        if found is None:
            return None
        if self._places:
            least = amount_at_least(max(found.lower, 0.0), "m")
            said = f"The best attacker's guess is off by at least {least} on average, wherever they guess."
        else:
            least = amount_at_least(max(found.lower, 0.0), "")
            said = f"The best attacker's guess is off by at least {least} on average{self._way}."
        return _measured(found, self.ground.loss_unit, said)

    def found(self, found: Bracket) -> MeasuredAnswer:
        """Return how often an attacker finds the secret, stated by its upper end."""
        what = "guesses the true value"
        if isinstance(self.ground, PlacesGround):
            what = f"is within {exactly(self.ground.radius_m)} m of where you truly are"
        said = f"The best attacker {what} at most {_share(found.upper)} of the time."
        if found.upper >= _USELESS:
            said = f"No useful limit is proved of how often the best attacker {what}."
        return _measured(Bracket(max(found.lower, 0.0), found.value, min(found.upper, 1.0)), "", said)

    def bound(self, value: float | None) -> MeasuredAnswer:
        """Return what no mechanism of the kind goes below."""
        lowest = -math.inf if value is None else value
        unit = self.ground.loss_unit
        shown = amount_at_least(max(lowest, 0.0), unit) if unit else at_least(max(lowest, 0.0), 3)
        if not self._places and not (isinstance(self.ground, ValuesGround) and self.ground.ordered):
            shown = percent_at_least(max(lowest, 0.0))
        what = "on these places, with the rows that prove the promise," if self._places else "with this promise"
        said = (
            f"No mechanism {what} has an average loss below {shown}."
            if value is not None
            else "No bound is known."
        )
        found = Bracket(lowest, max(lowest, 0.0), math.inf)
        return MeasuredAnswer(lower=_json(found.lower), value=found.value, upper=None, unit=unit, sentence=said)

    def odds(self, epsilon: float) -> str:
        """Return what an epsilon means for the odds of two secrets."""
        exponent = self.ground.exponent(epsilon)
        times = factor_at_most(exponent)
        thinks = f"who thought each 50 % likely believes at most {even_belief_at_most(exponent)} of one."
        if exponent >= _USELESS_EXPONENT:
            thinks = "no useful limit is proved of how likely somebody thinks one of them afterwards."
        if self._places:
            return (
                f"For two points 1 km apart, a report is at most {times} times likelier from one than from the "
                f"other: {thinks} Nearer points are told apart less."
            )
        if isinstance(self.ground, ValuesGround) and self.ground.per_unit and self.ground.ordered:
            return (
                f"For two numbers 1 apart{self._way}, a report is at most {times} times likelier from one than "
                f"from the other: {thinks}"
            )
        return (
            f"For any two values, a report is at most {times} times likelier from one than from the other: "
            f"{thinks}"
        )

    def blended(self, blend: Blend, epsilon: float) -> list[str]:
        """Return what an interpolated mechanism is, and what it promises."""
        low, high = about(blend.lower.epsilon), at_most(blend.upper.epsilon)
        return [
            f"Interpolated for epsilon {about(epsilon)}{self._per}: the numbers are those of a mechanism that "
            "uses one of two proved designs, chosen at random. It promises the larger epsilon of the two, "
            f"at most {high}{self._per}; the smaller one is {low}{self._per}.",
            self.odds(blend.upper.epsilon),
        ]

    def certified(self, epsilon: float, *, finished: bool, status: str) -> list[str]:
        """Return what a proved design is."""
        said = [f"Proved, on the integers that are sampled: epsilon is at most {at_most(epsilon, 6)}{self._per}."]
        if not finished:
            said.append(f"Not finished: {status}. What is promised is proved all the same.")
        return [*said, self.odds(epsilon)]

    def same_for_all(self) -> str:
        """Return that a mechanism is hardly more useful than one report for everybody."""
        what = "place" if self._places else "value"
        return (
            f"One {what} reported for everybody loses at most about 0.5 % more: reports at this epsilon "
            "are useless. Choose a larger one."
        )

    def here(self, mean_loss: float) -> str:
        """Return how far somebody at a position appears from it."""
        if self._places:
            return f"From here, you appear about {amount(mean_loss, 'm')} away on average."
        if isinstance(self.ground, ValuesGround) and self.ground.ordered:
            return (
                f"With this value, what is reported is off by about {about(mean_loss, 3)} on average{self._way}."
            )
        return f"With this value, {about_percent(min(mean_loss, 1.0))} of the reports name another one."

    def belief(self, report: int, guess: int, before: float, after: float) -> str:
        """Return what one report tells the attacker."""
        what = "place" if self._places else "value"
        guessed = f"the reported {what}" if guess == report else f"not the reported {what}, but another"
        return (
            f"After this report the attacker's best guess is {guessed}. They believe in it with {percent(after)}; "
            f"before the report it was {percent(before)}."
        )

    def never(self) -> str:
        """Return that nobody makes a report."""
        return "This is never reported, or too rarely to be seen here: the attacker learns nothing from it."

    def shared(self, times: int, same: int, mean_loss: float) -> str:
        """Return what several reports from one position showed."""
        each = counted(times, "report")
        if self._places:
            return (
                f"{each}, drawn with the operating system's randomness: {amount(mean_loss, 'm')} from you on "
                "average. All of them from one place tell more than one does: the promises add up."
            )
        if isinstance(self.ground, ValuesGround) and self.ground.ordered:
            off = f"off by {about(mean_loss, 3)} on average{self._way}"
            return f"{each}: {off}, {same} of them true. The promises add up."
        return f"{each}, {same} of them true. The promises of several reports add up."

    def step(self, number: int, chance: float, off: float) -> str:
        """Return what the attacker believes after one report of a walk."""
        if self._places:
            return (
                f"After report {number} the attacker believes {percent(min(chance, 1.0))} of your place; their "
                f"likeliest place is {amount(off, 'm')} from you."
            )
        return f"After report {number} the attacker believes {percent(min(chance, 1.0))} of the true value."

    def walked(self, reports: int, epsilon: float, *, moving: bool, near: float) -> str:
        """Return what a walk shows.

        Args:
            reports: How many there are.
            epsilon: What one of them promises.
            moving: Whether there are several stops.
            near: How far apart two stops are at most, as the attacker knows; in the unit of the loss.
        """
        total = at_most(up(reports * epsilon))
        several = counted(reports, "report")
        adds = f"Together {several} promise epsilon {total}{self._per} at most, {reports} times that of one."
        apart = f"{self._step(near)} apart{self._way}"
        how = (
            f"The attacker knows that two stops that follow each other are at most {apart}, and "
            f"how often {'people are at each place' if self._places else 'each value occurs'}."
            if moving
            else "The attacker knows that all reports come from one place."
            if self._places
            else "The attacker knows that all reports are of one value."
        )
        return f"{how} {adds}"

    def attacked(self) -> list[str]:
        """Return who the three attackers are, and from where their errors are counted."""
        counting = (
            "All are counted from the place of the map that you are rounded to, not from the point where you "
            "stand; to find you is to name that place."
            if self._places
            else "To find you is to name the true value."
        )
        return [
            "Expected: knows how often people are at each place, as in the data, which is true."
            if self._places
            else "Expected: knows how often each value occurs, as in the data, which is true.",
            "Mistaken: believes what you say, but the data are true.",
            "Right: what you say is true, and the attacker knows it, though the mechanism was made for the data.",
            counting,
        ]

    def attacker(self, error: Bracket | None, found: Bracket) -> tuple[MeasuredAnswer | None, MeasuredAnswer]:
        """Return what one of three attackers achieves; these are computed, not bounded."""
        hits = f"They find you {about_percent(min(found.value, 1.0))} of the time."
        said = None
        if error is not None:
            said = _measured(
                error, self.ground.loss_unit, f"They are off by about {amount(error.value, 'm')} on average."
            )
        return said, _measured(found, "", hits)

    def chosen(self, epsilon: float | None, *, loss: float | None, found: float | None) -> str:
        """Return which epsilon reaches an outcome, or that none does."""
        wanted = (
            f"a loss of at most {self._amount(loss)}"
            if loss is not None
            else f"at most {percent(found or 0.0)} found"
        )
        if epsilon is None:
            return f"No epsilon that was designed for reaches {wanted}."
        way = "smallest" if loss is not None else "largest"
        where = "read off between proved designs"
        return f"About epsilon {about(epsilon)}{self._per} is the {way} with {wanted}, {where}."

    def compared(self, *, equal: str, value: float, visits: int | None) -> str:
        """Return what mechanisms had in common when they were compared."""
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
        """Return why nothing is compared at a loss that needs no report at all, and at which there is."""
        what, blind = "place" if self._places else "value", self.ground.loss_of_nothing
        message = (
            f"A loss of {self._amount(loss)} was chosen, but always reporting the same {what} loses about "
            f"{self._amount(blind)} and reveals nothing."
        )
        return message, f"choose a loss below {self._at_least(blind)}, by less privacy."

    def contestant(
        self, name: str, epsilon: float, loss: Bracket | None, error: Bracket | None, detail: str, problem: str
    ) -> dict[str, Any]:
        """Return one of several mechanisms that are compared; what is not bounded says so.

        Args:
            name: The mechanism.
            epsilon: What is proved of it; infinite for nothing.
            loss: Its loss.
            error: The attacker's error; None where it is not known.
            detail: How it was made.
            problem: Why there is none, or why it is not the best of its kind.
        """
        promise = (
            f"Epsilon is at most {at_most(epsilon)}{self._per}."
            if math.isfinite(epsilon)
            else "Nothing is promised."
        )
        if math.isinf(epsilon) and self._places and not problem:
            promise = "Nothing is promised to two points near each other: they may be on two sides of a border."
        return {
            "name": name,
            "epsilon": _json(epsilon),
            "loss": self._about("Loses", loss),
            "error": self._about("The attacker is off by", error),
            "promise": promise,
            "detail": detail,
            "problem": problem,
        }

    def _about(self, what: str, found: Bracket | None) -> dict[str, Any] | None:
        if found is None or not math.isfinite(found.value):
            return None
        said = f"{what} {self._nearly(found.value)} on average."
        if found.upper == math.inf and math.isfinite(found.lower):
            said = f"No mechanism with so small an epsilon loses less than {self._least(found.lower)} on average."
        return _measured(found, self.ground.loss_unit, said).model_dump()

    def _least(self, value: float) -> str:
        """Return a loss, rounded down."""
        lowest = max(value, 0.0)
        if self._places:
            return amount_at_least(lowest, "m")
        ordered = isinstance(self.ground, ValuesGround) and self.ground.ordered
        return at_least(lowest, 3) if ordered else percent_at_least(lowest)

    def _step(self, value: float) -> str:
        return amount(value, "m") if self._places else about(value, 3)

    def _nearly(self, value: float) -> str:
        shown = self._amount(value)
        return shown if shown.startswith("under") else f"about {shown}"

    def _amount(self, value: float) -> str:
        if self._places:
            return amount(value, "m")
        ordered = isinstance(self.ground, ValuesGround) and self.ground.ordered
        return about(value, 3) if ordered else percent(value)

    def _at_least(self, value: float) -> str:
        if self._places:
            return amount_at_least(value, "m")
        ordered = isinstance(self.ground, ValuesGround) and self.ground.ordered
        return at_least(value, 3) if ordered else percent_at_least(value)


def _measured(found: Bracket, unit: str, sentence: str) -> MeasuredAnswer:
    return MeasuredAnswer(
        lower=_json(found.lower), value=found.value, upper=_json(found.upper), unit=unit, sentence=sentence
    )


def _json(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _share(upper: float) -> str:
    """Return an upper bound of a share, which is no more than all."""
    return percent_at_most(min(upper, 1.0))
