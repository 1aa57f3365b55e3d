"""An entry for each notion of privacy: its question, its source, and what it gives and follows from."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.privacy import ATLAS, VOCABULARY, Description
from sfumato.privacy.vocabulary import kinds


def notion_words() -> str:
    """Return the entries in Markdown, in the order of the vocabulary."""
    return "\n".join(_entry(each) for each in VOCABULARY.values())


def _entry(notion: Description) -> str:
    lines = [
        f"({place(notion.key)})=",
        f"### {notion.heading}",
        "",
        f"{notion.question} Source: {notion.source}. In claims and requirements it is `{notion.key}`.",
        "",
        *(f"- Measured by {each}." for each in [_classes(notion.key)] if each),
        *_arrows("Gives", [(edge.end, edge.name) for edge in ATLAS if edge.start == notion.key]),
        *_arrows("Follows from", [(edge.start, edge.name) for edge in ATLAS if edge.end == notion.key]),
        "",
    ]
    return "\n".join(lines)


def place(key: str) -> str:
    """Return the name of the place of a notion's entry in its page."""
    return f"notion-{key}"


def _classes(key: str) -> str:
    """Return the classes that measure a notion, each with a link to its description."""
    return ", ".join(
        f"{{py:class}}`{kind.__name__} <{'.'.join(kind.__module__.split('.')[:3])}.{kind.__name__}>`"
        for kind in kinds(key)
    )


def _arrows(verb: str, found: list[tuple[str, str]]) -> Iterator[str]:
    if found:
        ways = "; ".join(
            f"[{VOCABULARY[key].title}](#{place(key)}) ([proof](../proofs/atlas.md#{name}))" for key, name in found
        )
        yield f"- {verb} {ways}."
