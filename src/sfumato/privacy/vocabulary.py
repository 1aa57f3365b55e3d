"""All notions of privacy by key, and their table in the documentation."""

from __future__ import annotations

from typing import Final

from ..errors import InputError
from . import beliefs, curves, distributions, point
from .notion import Description, Notion

DISTORTION: Final = Description(
    "distortion",
    "distortion privacy",
    ("error",),
    question="How large is the best attacker's average error?",
    promise="the average error of the best attack is at least {error}",
    source="Shokri, Privacy Games, equation 19",
    audited="with a prior and a metric",
    context=("distance", "priors"),
    essentials=("distance",),
    larger_hides=True,
)
"""The attacker's error, a notion that claims state and `sfumato.attacks` measures."""

KINDS: Final[tuple[type[Notion], ...]] = (
    *point.NOTION_CLASSES,
    *curves.NOTION_CLASSES,
    *beliefs.NOTION_CLASSES,
    *distributions.NOTION_CLASSES,
)
"""Every class of notions; two classes may measure different numbers of one notion."""

VOCABULARY: Final[dict[str, Description]] = {
    description.key: description for description in (*(kind.description for kind in KINDS), DISTORTION)
}
"""The descriptions, by key."""


def describe(key: str) -> Description:
    """Return the description of a notion; raise InputError for an unknown key."""
    if key not in VOCABULARY:
        raise InputError(f"no notion of privacy is called {key!r}.", f"the notions are {', '.join(VOCABULARY)}.")
    return VOCABULARY[key]


def kinds(key: str) -> tuple[type[Notion], ...]:
    """Return the classes that measure a notion, one per number."""
    return tuple(kind for kind in KINDS if kind.description.key == key)


NAMES: Final = {
    "metric": "a metric",
    "family": "a family of distributions",
    "interventions": "interventions",
    "curve": "a curve",
    "rivals": "rivals",
}
"""Parts of notions that most audits lack, in words."""


def table() -> str:
    """Return the Markdown table of notions, one per line."""
    lines = ["| key | finds | an audit measures it | the question it answers | source |", "|---|---|---|---|---|"]
    for key, word in VOCABULARY.items():
        finds = [kind.parameter for kind in kinds(key)] or word.numbers
        cells = (f"`{key}`", ", ".join(finds), _audit_condition(key), word.question, word.source)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _audit_condition(key: str) -> str:
    """Return when audits measure a notion."""
    classes = kinds(key)
    if not classes:
        return VOCABULARY[key].audited
    usual = [kind for kind in classes if not kind.on_request]
    if usual:
        inputs = [NAMES[name] for name in usual[0].needs() if name in NAMES]
        return f"with {' and '.join(inputs)}" if inputs else "always"
    uncommon = [NAMES[name] for name in classes[0].parts() if name in NAMES]
    return f"with {' and '.join(uncommon)}, or by name" if uncommon else "by name"
