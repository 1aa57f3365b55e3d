"""The atlas at an epsilon: which notions of privacy follow from the promise, and with which numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sfumato.errors import InputError
from sfumato.privacy import VOCABULARY
from sfumato.privacy.atlas import ATLAS, NOTION_KEYS, Claim, convert
from sfumato.rounding import at_most

from .answers import AtlasAnswer, ImplicationAnswer, NotionAnswer
from .grounds import PlacesGround, StudioGround
from .plain import GROUPS, PLAIN, REST
from .words import StudioWords

LIT: Final = 3.0
"""The largest number with which a notion is lit: a factor of about 20."""

_LIT_SHARE: Final = 0.9  # of a notion whose number is a difference of probabilities
_SHARES: Final = frozenset({"semantic"})


def atlas_answer(ground: StudioGround, epsilon: float) -> AtlasAnswer:
    """Return all notions, lit where what is promised of them is strong, and what each implies."""
    claim = ground.claim(epsilon)
    own = StudioWords(ground).odds(epsilon)
    found = [_notion(claim, key) for key in NOTION_KEYS]
    if isinstance(ground, PlacesGround):
        promise = f"epsilon {at_most(epsilon)}{ground.epsilon_unit.removeprefix('1')}"
        found = [
            each.model_copy(update={"lit": True, "value": promise, "sentence": own})
            if each.key == "metric-privacy"
            else each
            for each in found
        ]
    return AtlasAnswer(
        notions=found,
        edges=list(_edges()),
        lit_when=f"A notion is lit where its number is at most {LIT:g}, a factor of about 20, for any two secrets "
        f"of the workspace; for differences of probabilities, at most {_LIT_SHARE:g}. Between two designs the "
        "larger epsilon of the two counts.",
    )


def _notion(claim: Claim, key: str) -> NotionAnswer:
    known = VOCABULARY[key]
    titles = {"title": known.title, "plain": PLAIN.get(key, known.question), "group": GROUPS.get(key, REST)}
    own = {"key": key, **titles}
    try:
        found = convert(claim, to=key).claim
    except InputError as error:
        return NotionAnswer(**own, lit=False, value="", sentence=error.problem)
    numbers = {name: value for name, value in found.numbers.items() if value and name != "order"}
    most = _LIT_SHARE if key in _SHARES else LIT
    if not found.numbers:  # a curve, which is as strong as the claim that it follows from
        strong = claim.numbers["epsilon"] <= LIT
        return NotionAnswer(**own, lit=strong, value="given by a curve", sentence=found.sentence)
    return NotionAnswer(
        **own,
        lit=all(value <= most for value in numbers.values()),
        value=", ".join(f"{name} {at_most(value)}" for name, value in numbers.items()),
        sentence=found.sentence,
    )


@lru_cache(maxsize=1)
def _edges() -> tuple[ImplicationAnswer, ...]:
    return tuple(
        ImplicationAnswer(start=edge.start, end=edge.end, name=edge.name, sentence=edge.sentence) for edge in ATLAS
    )
