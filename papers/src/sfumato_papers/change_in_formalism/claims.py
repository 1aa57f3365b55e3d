"""The claims of the thesis, judged from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from sfumato.rounding import about, at_most, counted

from ..reproduction import PaperClaim, RunTables, judged, unchecked
from .bands import BAND_EPSILONS, PosteriorRow
from .errata import ErratumRow
from .properties import NO, OPEN, YES, PropertyRow
from .published import READ, BandValue
from .relation import KnownRow, RelationRow
from .summary import RelationSummary, summaries
from .tables import BANDS, EDGES, ERRATA, FIGURE, KNOWN, PROPERTIES, RELATIONS

_TABLE: Final = "2.2.9, table 2.20"
_RANGE: Final = "It is equivalent to ε-DP up to a change in parameters"
_QUOTES: Final = {
    "PMPr to AdvPr": "(Θ, ε, δ)-AdvPr ≺ (Θ, ε)-PMPr",
    "InfPr to DP, twice": "if Θ contains a distribution whose support is D, then (Θ, ε)-InfPr implies 2ε-DP",
    "bounded range to DP": _RANGE,
    "DP to bounded range": _RANGE,
}
"""The words of the thesis, by relation."""
_AXIOMS: Final = (
    (("PMPr", "NMPr", "MPr", "AdvPr", "ANPr"), "All variants of MPr, AdvPr, and ANPr satisfy both axioms."),
    (("InfPr",), "As a direct corollary, InfPr also satisfies both axioms."),
)
"""The words of proposition 16, by definition. Axioms are about processing and mixtures."""


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims, judged."""
    related = summaries(tables.rows(RELATIONS, RelationRow), tables.rows(KNOWN, KnownRow))
    properties = tables.rows(PROPERTIES, PropertyRow)
    return [
        *_figures(tables.rows(BANDS, PosteriorRow), tables.rows(EDGES, BandValue), tables.rows(FIGURE, BandValue)),
        *(_relation(each) for each in related if each.published),
        _generalised({each.relation: each for each in related}),
        *_properties(properties),
        *(_axioms([row for row in properties if row.definition in names], quote) for names, quote in _AXIOMS),
        *(_erratum(row) for row in tables.rows(ERRATA, ErratumRow)),
    ]


def _figures(
    bands: Sequence[PosteriorRow], edges: Sequence[BandValue], values: Sequence[BandValue]
) -> list[PaperClaim]:
    first = next(row for row in bands if (row.epsilon, row.prior) == (BAND_EPSILONS[0], 0.5))
    exact = all(
        math.isclose(row.lower, row.answered_no, abs_tol=1e-12)
        and math.isclose(row.upper, row.answered_yes, abs_tol=1e-12)
        for row in bands
    )
    half = [row for row in bands if row.prior == first.prior and row.epsilon != first.epsilon]
    wide = ", ".join(f"{about(row.upper, 4)} at {row.epsilon:g}" for row in (half[0], half[-1]))
    return [
        judged(
            "Figure 2.1",
            "At epsilon = ln 3 a belief of 50 % ends between 25 % and 75 %.",
            exact and math.isclose(first.lower, 0.25) and math.isclose(first.upper, 0.75),
            f"It ends between {about(first.lower, 4)} and {about(first.upper, 4)}; randomised response attains "
            "the whole band.",
        ),
        judged(
            "Figure 2.2",
            "The bands at epsilon from 0.5 to 7, half an epsilon apart.",
            _read(edges),
            f"{_apart(edges)} They are the edges at a prior probability of {about(edges[0].prior, 4)}. Computed "
            f"here, a belief of one half may become {wide}.",
        ),
        judged(
            "Figure 2.8",
            "The four curves of posteriors at epsilon = ln 3.",
            _read(values),
            _apart(values),
        ),
    ]


def _read(values: Sequence[BandValue]) -> bool:
    return all(abs(row.difference) <= READ for row in values)


def _apart(values: Sequence[BandValue]) -> str:
    most = max(abs(row.difference) for row in values)
    return (
        f"{len(values)} published values differ from those computed here by at most {at_most(most, 2)}; the "
        f"drawing can be read to {READ:.0e}."
    )


def _relation(found: RelationSummary) -> PaperClaim:
    if found.fails:
        evidence = (
            f"It fails on {found.violations} of {counted(found.instances, 'random channel')}, and on rows "
            f"{found.known_channel}: {about(found.known_found)} is found where {about(found.known_allowed)} is "
            "allowed."
        )
    else:
        evidence = f"No violation on {counted(found.instances, 'random channel')}. {reached(found)}"
    return judged(found.where, found.says, not found.fails, evidence, quote=_QUOTES.get(found.relation, ""))


def reached(found: RelationSummary) -> str:
    """Return how close channels come to what a relation allows, in a sentence."""
    share = found.known_found / found.known_allowed
    mean = f"{about(found.mean_share.value, 3)} ({about(found.mean_share.lower, 3)} to "
    mean += f"{about(found.mean_share.upper, 3)})"
    return (
        f"Of what is allowed, {mean} is found on average, {about(found.tightness, 3)} at most, and "
        f"{about(share, 3)} on rows {found.known_channel}."
    )


def _generalised(related: dict[str, RelationSummary]) -> PaperClaim:
    there, back = related["(epsilon, delta)-DP to AdvPr"], related["AdvPr to (epsilon, delta)-DP"]
    at_zero = related["AdvPr of every prior to DP"]
    return judged(
        f"{_TABLE}, with definition 11",
        "AdvPr generalises (epsilon, delta)-DP.",
        not (there.fails or back.fails),
        "For delta = 0 it does: against every prior it is epsilon-DP (no violation on "
        f"{counted(at_zero.instances, 'channel')}). For a delta above 0 it does not. Rows {there.known_channel} "
        f"are (0, {about(there.known_allowed)})-DP, and yet a report makes the secret certain: over every prior, "
        f"AdvPr needs a delta of {about(there.known_found)}. For every choice of priors and "
        "numbers AdvPr either refuses these rows or limits no fact in doubt, so no choice is (epsilon, "
        f"delta)-DP. In the other direction, rows {back.known_channel} need a delta of "
        f"{about(back.known_allowed, 3)} for AdvPr and of {about(back.known_found, 3)} for DP at the same "
        "epsilon.",
        quote="(ε, δ)-DP ⊂ (Θ, ε, δ)-AdvPr",
    )


def _properties(rows: Sequence[PropertyRow]) -> list[PaperClaim]:
    found = []
    for name in dict.fromkeys(row.definition for row in rows):
        own = [row for row in rows if row.definition == name]
        stated = [row for row in own if row.table != OPEN]
        left = [row for row in own if row.table == OPEN]
        words = ", ".join(f"{row.property} {row.table}" for row in stated)
        evidence = " ".join(_evidence(row) for row in own)
        if not stated:
            says = f"Of {name}, the table leaves processing, mixtures and composition open."
            found.append(unchecked(_TABLE, says, f"No answer is given there. Found here: {evidence}"))
            continue
        says = f"{name}: {words}{', the rest open' if left else ''}."
        holds = all(row.table == row.here and not row.violations for row in stated)
        found.append(judged(_TABLE, says, holds, evidence))
    return found


def _axioms(rows: Sequence[PropertyRow], quote: str) -> PaperClaim:
    own = [row for row in rows if row.property in ("processing", "mixtures")]
    names = ", ".join(dict.fromkeys(row.definition for row in own))
    broken = [row for row in own if row.here != YES or row.violations]
    return judged(
        "2.2.9, proposition 16",
        f"Closed under processing and mixtures: {names}.",
        not broken,
        " ".join(f"{row.definition}: {_evidence(row)}" for row in broken)
        or f"No violation on {counted(sum(row.instances for row in own), 'random pair')}.",
        quote=quote,
    )


def _evidence(row: PropertyRow) -> str:
    open_there = " (open in the table)" if row.table == OPEN else ""
    lead = f"{row.property[0].upper()}{row.property[1:]}{open_there}: "
    if row.here == YES:
        outcome = "kept by all" if not row.violations else f"broken by {row.violations} of"
        return f"{lead}{outcome} {counted(row.instances, 'random pair')}."
    if row.before is None or row.after is None:
        return f"{lead}{NO}."
    return f"{lead}{NO}, from {about(row.before, 3)} to {_number(row.after)}, since {row.why}."


def _number(value: float) -> str:
    return "no finite value" if math.isinf(value) else about(value, 3)


def _erratum(row: ErratumRow) -> PaperClaim:
    return judged(
        row.where,
        row.printed,
        math.isclose(row.by_print, row.found, rel_tol=1e-9),
        f"Wrong as printed. {row.right} For {row.instance}, {row.what} is {_number(row.found)}; the print gives "
        f"{_number(row.by_print)}.",
        quote=row.quote,
    )
