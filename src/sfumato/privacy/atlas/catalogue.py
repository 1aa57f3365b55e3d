"""Views of the atlas: its notions, its implications by their ends, its table, and where no implication is."""

from __future__ import annotations

from typing import Final

from ..vocabulary import VOCABULARY, described
from .edge import Edge, Tightness
from .edges import ATLAS

NOTIONS: Final[tuple[str, ...]] = tuple(VOCABULARY)
"""The keys of all notions that claims may be about."""

_LEAK: Final = "reports of probability delta may reveal the secret, and then a fact is certain afterwards"
_RARE: Final = "a rare report may have any likelihood ratio and still weigh little on average"

SEPARATIONS: Final[dict[tuple[str, str], str]] = {
    ("kl-privacy", "differential-privacy"): f"{_RARE}, so that delta = 0 is out of reach",
    ("divergence-privacy", "differential-privacy"): (
        "p = (.98, .02, 0) and q = (.98, 0, .02) have total variation .02 and no finite epsilon"
    ),
    ("gaussian", "indistinguishable"): f"{_RARE}, as under normal noise",
    ("concentrated-privacy", "indistinguishable"): f"{_RARE}, as under normal noise",
    ("differential-privacy", "adversarial"): _LEAK,
    ("differential-privacy", "positive-membership"): _LEAK,
    ("differential-privacy", "membership"): _LEAK,
    ("differential-privacy", "information"): _LEAK,
    ("differential-privacy", "noiseless"): _LEAK,
    ("semantic", "differential-privacy"): (
        "with p(.|s) = (.5, .5) and p(.|default) = (1, 0) the second report gives s away, but no belief can be "
        "formed after the default has made it"
    ),
    ("positive-membership", "negative-membership"): (
        "with p(.|s) = (1, 0) and p(.|s') = (.5, .5) the second report rules s out, but none makes it more than "
        "twice as probable"
    ),
    ("positive-membership", "differential-privacy"): (
        "with p(.|s) = (1, 0), p(.|s') = (.5, .5) and the one fact that the secret is s, the second report "
        "rules s out"
    ),
    ("adversarial", "negative-membership"): "adversarial privacy bounds no probability from below",
    ("information", "differential-privacy"): (
        "a prior that holds a secret impossible says nothing about the reports of that secret"
    ),
    ("noiseless", "differential-privacy"): (
        "a deterministic mechanism that reports the parity of two secret fair bits is noiseless about the first "
        "bit with epsilon 0"
    ),
    ("distribution-privacy", "differential-privacy"): (
        "two distributions may look alike although their secrets do not: for example the uniform "
        "distribution of two of them and of two others under a mechanism that reports who of each two it is"
    ),
    ("probabilistic-differential-privacy", "probabilistic-distribution-privacy"): (
        "the sets of bad reports of different pairs join: with delta = .1 and epsilon = .5 half of (.1, .12, .78) "
        "against (0, .12, .88) and half of an equal pair has a bad report of probability .11"
    ),
}
"""Why some notions do not imply others, each in a clause; tests run the mechanisms."""


def implications(*, start: str | None = None, end: str | None = None) -> tuple[Edge, ...]:
    """Return the implications from a notion, to a notion, or between two.

    Args:
        start: The key of the notion that implies; any if None.
        end: The key of the notion that is implied; any if None.

    Raises:
        InputError: If a key is unknown.

    Example:
        >>> from sfumato.privacy.atlas.catalogue import implications
        >>> [edge.name for edge in implications(start="bounded-range")]
        ['range-to-dp', 'range-to-zcdp']
    """
    for key in (start, end):
        if key is not None:
            described(key)
    return tuple(
        edge for edge in ATLAS if (start is None or edge.start == start) and (end is None or edge.end == end)
    )


def table() -> str:
    """Return the atlas as a table in Markdown, one implication per line."""
    lines = [
        "| from | to | how the values change | if | the least? | source | proof |",
        "|---|---|---|---|---|---|---|",
    ]
    for edge in ATLAS:
        cells = (
            VOCABULARY[edge.start].title,
            VOCABULARY[edge.end].title,
            edge.rule,
            edge.needs or "always",
            f"{'yes' if edge.tightness is Tightness.TIGHT else edge.tightness.value}: {edge.witness}",
            edge.source if edge.source == edge.basis.value else f"{edge.source} ({edge.basis.value})",
            f"[{edge.name}](proofs/atlas.md#{edge.name})",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
