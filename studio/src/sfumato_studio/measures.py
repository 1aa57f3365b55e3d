"""Numbers of the page about a domain, each in the words of the library's catalogue."""

from __future__ import annotations

import math
from typing import Any, Final

from sfumato.core import Bracket, Side
from sfumato.core.naming import BORDER
from sfumato.reports import sentences as words
from sfumato.reports.facts import Quantity, RadiusFacts, RiskFacts
from sfumato.rounding import amount, percent, percent_at_least

from .answers import MeasuredAnswer, SharesAnswer
from .domains import Domain, Measures
from .domains.domain import EXCESS
from .levels import QUANTILE, number
from .store import Row

_REMAPPED: Final = " + remap"
YOURS: Final = "yours"  # the name of the mechanism of a level among compared ones


def loss_answer(domain: Domain, loss: Bracket) -> MeasuredAnswer:
    """Return a loss, stated by its upper end, with that of one report for everyone."""
    cost, constant, subject = domain.cost(loss.upper), domain.loss_of_nothing, domain.subject
    without = words.constant_words(constant, subject)
    sentence = words.cost_words(cost, subject)[0]
    return _answer(domain, loss, words.cost_text(cost), sentence, constant, without)


def success_answers(domain: Domain, success: Measures) -> tuple[MeasuredAnswer | None, MeasuredAnswer]:
    """Return an attacker's error and chance to find the secret as bounds, with those without a report."""
    blind, informed = domain.attacks(success)
    hit_before, error_before = (f"{baseline.capitalize()}." for baseline in words.baseline_words(blind))
    *errors, hits = words.attack_words((blind, informed), domain.subject)
    if domain.radius_m:
        radius = Quantity.exact(domain.radius_m, "m")
        radius_text = amount(domain.radius_m, "m")
        hits = words.risk_words(
            RiskFacts("", radius, radius_text, informed.hit, None, None, "", "visits", blind.hit), domain.subject
        )[0]
    bounds, before = success.chance, min(domain.blind_success.chance.value, 1.0)
    text = words.share_text(Quantity.at_most(min(bounds.upper, 1.0)), Side.AT_MOST)
    share = Bracket(max(bounds.lower, 0.0), bounds.value, min(bounds.upper, 1.0))
    chance = _answer(domain, share, text, hits, before, hit_before, share=True)
    if success.error is None or domain.blind_success.error is None:
        return None, chance
    least = Quantity.at_least(max(success.error.lower, 0.0), domain.subject.unit)
    text, before = words.length_text(least, Side.AT_LEAST), domain.blind_success.error.value
    return _answer(domain, success.error, text, errors[0], before, error_before), chance


def estimate_answer(domain: Domain, measure: Bracket, *, share: bool = False) -> MeasuredAnswer:
    """Return a computed number as an estimate, or as a lower bound where no upper one is known."""
    share = share or domain.subject.kind == "categories"
    if measure.upper == math.inf and math.isfinite(measure.lower):
        least = Quantity.at_least(max(measure.lower, 0.0), domain.subject.unit)
        text = words.length_text(least, Side.AT_LEAST)
        text = f"{Side.AT_LEAST.value} {percent_at_least(least.value)}" if share else text
    else:
        value = Quantity.about(min(measure.value, 1.0) if share else measure.value, domain.subject.unit)
        text = (words.share_text if share else words.length_text)(value, Side.AT_MOST)
    return _answer(domain, measure, text, share=share)


def shares_answer(domain: Domain, row: Row, people: int) -> SharesAnswer | None:
    """Return the accuracy of the shares that so many reports give; None for places."""
    facts = row["facts"]["shares"]
    if facts is None:
        return None
    deviation, least = facts["deviation"], facts["least_reports"]
    width = None if deviation is None else min(1.0, QUANTILE * deviation / math.sqrt(people))
    sentence = words.accuracy_words(people, width, least)
    if width is None:
        return SharesAnswer(people=people, half_width=None, estimable=False, sentence=sentence)
    p, few = domain.prior.probabilities, least is None or people < least
    without = QUANTILE * math.sqrt(float((p * (1 - p)).max()) / people)
    width, text = (1.0, "no useful limit") if few else (width, f"\u00b1 {percent(width)}")
    half_width = _answer(
        domain,
        Bracket(0.0, width, width),
        text,
        "",
        without,
        f"Without noise: \u00b1 {percent(without)}.",
        share=True,
    )
    return SharesAnswer(people=people, half_width=half_width, estimable=not few, sentence=sentence)


def headline(domain: Domain, epsilon: float) -> str:
    """Return the meaning of a proved epsilon."""
    return words.belief_words(domain.promise(epsilon), domain.subject)


def level_sentences(domain: Domain, facts: Row) -> list[str]:
    """Return the guarantee of a design, and what is missing of it."""
    promise, subject = domain.promise(facts["proved"]), domain.subject
    circle = promise.formal.circle
    return [
        *useless_words(domain, facts),
        words.epsilon_words(promise, subject),
        *([] if facts["finished"] else [words.unfinished_words(facts["status"])]),
        words.reveal_words(promise, subject),
        f"{words.belief_words(promise, subject)} {words.factor_words(promise)}".rstrip(),
        *([words.circle_words(circle)] if circle else []),
        *([BORDER] if promise.kind == "cells" else []),
    ]


def useless_words(domain: Domain, facts: Row) -> list[str]:
    """Return that one report for everyone is nearly as useful as a design, if so."""
    return [] if domain.is_useful(facts["loss"][1]) else [words.useless_words(EXCESS, domain.subject)]


def warnings(domain: Domain, facts: Row, shares: SharesAnswer | None) -> list[str]:
    """Return why a mechanism should not be used as it is."""
    limited = words.factor_words(domain.promise(facts["proved"]))
    return [
        *useless_words(domain, facts),
        *([] if limited else [headline(domain, facts["proved"])]),
        *([shares.sentence] if shares is not None and not shares.estimable else []),
    ]


def takeaway(domain: Domain, radius: RadiusFacts | None) -> list[str]:
    """Return what the files of a mechanism hold, and the error radius of its reports where one is proved."""
    return [
        *words.spread_words(radius),
        f"Keep the mechanism file as secret as the data: {words.secrecy_words(domain.subject)}",
        "Anyone with the mechanism file can prove the guarantee again: sfumato report mechanism.sfm.",
    ]


def compared_row(
    domain: Domain,
    name: str,
    epsilon: float,
    loss: Bracket | None,
    error: Bracket | None,
    detail: str,
    problem: str,
) -> dict[str, Any]:
    """Return one of several compared mechanisms, with its proved epsilon (infinite for no guarantee)."""
    explanation = words.MECHANISM_WORDS.get(name.removesuffix(_REMAPPED), "")
    if name.endswith(_REMAPPED):
        explanation += f" {words.REMAP_WORDS}"
    measures = {
        key: None if mean is None or not math.isfinite(mean.value) else estimate_answer(domain, mean).model_dump()
        for key, mean in (("loss", loss), ("error", error))
    }
    return {
        "name": name,
        "yours": name == YOURS,
        "explanation": "The mechanism of this level." if name == YOURS else explanation,
        "epsilon": number(epsilon),
        **measures,
        "promise": words.proved_words(epsilon, domain.distance_unit, places=domain.places and not problem),
        "detail": detail,
        "problem": problem,
    }


def _answer(
    domain: Domain,
    measure: Bracket,
    text: str,
    sentence: str = "",
    baseline: float | None = None,
    baseline_sentence: str = "",
    *,
    share: bool = False,
) -> MeasuredAnswer:
    return MeasuredAnswer(
        lower=number(measure.lower),
        value=measure.value,
        upper=number(measure.upper),
        unit="" if share else domain.loss_unit,
        text=text,
        sentence=sentence,
        baseline=baseline,
        baseline_sentence=baseline_sentence,
    )
