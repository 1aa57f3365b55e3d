"""The claims of the thesis, judged from the tables of a run, and its tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.core import Bracket
from sfumato.rounding import about, at_most, plural

from ..reproduction import PaperClaim, RunTables, abstain, interval, judge
from ..results import columns_of, distinct, markdown_table, where
from .properties import NO, OPEN, YES, PropertyRow
from .relations import KnownRow, RelationRow
from .thesis_values import BAND_EPSILONS, READ, BandValue, ErratumRow, PosteriorRow

_TABLE: Final = "2.2.9, table 2.20"
_DIGITS: Final = 1e-12
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


@dataclass(frozen=True, slots=True, repr=False)
class RelationSummary(KnownRow):
    """A relation on its known channel, and on the random channels of all seeds."""

    seeds: int
    instances: int
    violations: int
    mean_share: Bracket  # over channels: the mean over seeds with its 95 % interval; infinite if none is allowed
    tightness: float  # the largest share

    @property
    def fails(self) -> bool:
        """Whether a channel, random or known, breaks the relation."""
        return self.known_violated or self.violations > 0


def summaries(rows: Sequence[RelationRow], known: Sequence[KnownRow]) -> list[RelationSummary]:
    """Return a summary of each relation over its seeds, in their order."""
    relations = []
    for row in known:
        seeds = where(rows, relation=row.relation)
        shares = [seed.mean_share for seed in seeds]
        mean = Bracket(math.inf, math.inf, math.inf)
        if all(map(math.isfinite, shares)):
            # No more than 0 to 1 is possible where a relation holds.
            mean = interval(shares)
            mean = Bracket(max(0.0, mean.lower), mean.value, min(mean.upper, max(1.0, mean.value)))
        relations.append(
            RelationSummary(
                **columns_of(row),  # type: ignore[arg-type]
                seeds=len(seeds),
                instances=sum(seed.instances for seed in seeds),
                violations=sum(seed.violations for seed in seeds),
                mean_share=mean,
                tightness=max(seed.tightness for seed in seeds),
            )
        )
    return relations


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims, judged."""
    relations = summaries(tables.rows("relations", RelationRow), tables.rows("known-channels", KnownRow))
    related = {summary.relation: summary for summary in relations}
    # Two of them are the two directions of a claim of their own.
    there, back = (related.pop(name) for name in ("(epsilon, delta)-DP to AdvPr", "AdvPr to (epsilon, delta)-DP"))
    properties = tables.rows("properties", PropertyRow)
    return [
        *_figures(
            tables.rows("figures-2-1-and-2-2", PosteriorRow),
            tables.rows("figure-2-2", BandValue),
            tables.rows("figure-2-8", BandValue),
        ),
        *(_relation(summary) for summary in related.values()),
        _generalisation(there, back, related["DP and AdvPr of every prior"]),
        *_properties(properties),
        *(_axioms([row for row in properties if row.definition in names], quote) for names, quote in _AXIOMS),
        *(_erratum(row) for row in tables.rows("errata", ErratumRow)),
    ]


def _figures(
    bands: Sequence[PosteriorRow], edges: Sequence[BandValue], values: Sequence[BandValue]
) -> list[PaperClaim]:
    first = next(row for row in bands if (row.epsilon, row.prior) == (BAND_EPSILONS[0], 0.5))
    gap = max(row.gap for row in bands)
    exact = gap <= _DIGITS
    half = [row for row in bands if row.prior == first.prior and row.epsilon != first.epsilon]
    wide = ", ".join(f"{about(row.upper, 4)} at {row.epsilon:g}" for row in (half[0], half[-1]))
    priors = sum(row.epsilon == first.epsilon for row in bands)
    (read, apart), (read_curves, apart_curves) = _agreement(edges), _agreement(values)
    return [
        judge(
            "Figure 2.1",
            "At epsilon = ln 3 a belief of 50 % ends between 25 % and 75 %.",
            exact and math.isclose(first.lower, 0.25) and math.isclose(first.upper, 0.75),
            f"It ends between {about(first.lower, 4)} and {about(first.upper, 4)}; randomised response attains "
            "the whole band.",
        ),
        judge(
            "Figure 2.2",
            "The bands at epsilon from 0.5 to 7, half an epsilon apart: at every prior probability p the edges "
            "are p / (e^epsilon + (1 - e^epsilon) p) and e^epsilon p / (1 + (e^epsilon - 1) p).",
            exact and read,
            f"At {priors} prior probabilities from 0 to 1 the formula, `band` and Bayes' rule for randomised "
            f"response differ by at most {at_most(gap, 2)}. Two quotients of linear functions of p that agree at "
            f"three prior probabilities agree at all. An edge multiplies the odds of p by a constant, so one "
            f"point of a published curve fixes it. {apart} They are the edges at a prior probability of "
            f"{about(edges[0].prior, 4)}. A belief of one half may become {wide}.",
        ),
        judge("Figure 2.8", "The four curves of posteriors at epsilon = ln 3.", read_curves, apart_curves),
    ]


def _agreement(values: Sequence[BandValue]) -> tuple[bool, str]:
    """Return whether published values are those computed here, and by how much they differ."""
    most = max(abs(row.computed - row.published) for row in values)
    return most <= READ, (
        f"{len(values)} published values differ from those computed here by at most {at_most(most, 2)}; the "
        f"drawing can be read to {READ:.0e}."
    )


def _relation(row: RelationSummary) -> PaperClaim:
    if row.fails:
        evidence = (
            f"It fails on {row.violations} of {plural(row.instances, 'random channel')}, and on rows "
            f"{row.known_channel}: {about(row.known_found)} is found where {about(row.known_allowed)} is "
            "allowed."
        )
    else:
        mean, known = row.mean_share, row.known_found / row.known_allowed
        evidence = (
            f"No violation on {plural(row.instances, 'random channel')}. Of what is allowed, "
            f"{about(mean.value, 3)} ({about(mean.lower, 3)} to {about(mean.upper, 3)}) is found on average, "
            f"{about(row.tightness, 3)} at most, and {about(known, 3)} on rows {row.known_channel}."
        )
    return judge(row.where, row.says, not row.fails, evidence, quote=_QUOTES.get(row.relation, ""))


def _generalisation(there: RelationSummary, back: RelationSummary, at_zero: RelationSummary) -> PaperClaim:
    return judge(
        f"{_TABLE}, with definition 11",
        "AdvPr generalises (epsilon, delta)-DP.",
        not (there.fails or back.fails),
        "For delta = 0 it does: against every prior it is epsilon-DP (no violation on "
        f"{plural(at_zero.instances, 'channel')}). For a delta above 0 it does not. Rows {there.known_channel} "
        f"are (0, {about(there.known_allowed)})-DP, and yet a report makes the secret certain: over every prior, "
        f"AdvPr needs a delta of {about(there.known_found)}. For every choice of priors and numbers AdvPr either "
        "refuses these rows or limits no fact in doubt, so no choice is (epsilon, delta)-DP. In the other "
        f"direction, rows {back.known_channel} need a delta of {about(back.known_allowed, 3)} for AdvPr and of "
        f"{about(back.known_found, 3)} for DP at the same epsilon.",
        quote="(ε, δ)-DP ⊂ (Θ, ε, δ)-AdvPr",
    )


def _properties(rows: Sequence[PropertyRow]) -> Iterator[PaperClaim]:
    for name in distinct(rows, "definition"):
        answers = where(rows, definition=name)
        table_rows = [row for row in answers if row.table != OPEN]
        evidence = " ".join(map(_evidence, answers))
        if table_rows:
            words = ", ".join(f"{row.property} {row.table}" for row in table_rows)
            says = f"{name}: {words}{', the rest open' if len(table_rows) < len(answers) else ''}."
            yield judge(
                _TABLE, says, all(row.table == row.here and not row.violations for row in table_rows), evidence
            )
        else:
            says = f"Of {name}, the table leaves processing, mixtures and composition open."
            yield abstain(_TABLE, says, f"No answer is given there. Found here: {evidence}")


def _axioms(rows: Sequence[PropertyRow], quote: str) -> PaperClaim:
    axioms = [row for row in rows if row.property in ("processing", "mixtures")]
    names = ", ".join(distinct(axioms, "definition"))
    failures = [row for row in axioms if row.here != YES or row.violations]
    return judge(
        "2.2.9, proposition 16",
        f"Closed under processing and mixtures: {names}.",
        not failures,
        " ".join(f"{row.definition}: {_evidence(row)}" for row in failures)
        or f"No violation on {plural(sum(row.instances for row in axioms), 'random pair')}.",
        quote=quote,
    )


def _evidence(row: PropertyRow) -> str:
    open_there = " (open in the table)" if row.table == OPEN else ""
    lead = f"{row.property[0].upper()}{row.property[1:]}{open_there}: "
    if row.here == YES:
        outcome = "kept by all" if not row.violations else f"broken by {row.violations} of"
        return f"{lead}{outcome} {plural(row.instances, 'random pair')}."
    if row.before is None or row.after is None:
        return f"{lead}{NO}."
    return f"{lead}{NO}, from {about(row.before, 3)} to {_number(row.after)}, since {row.why}."


def _number(value: float, infinite: str = "no finite value") -> str:
    return infinite if math.isinf(value) else about(value, 3)


def _erratum(row: ErratumRow) -> PaperClaim:
    return judge(
        row.where,
        row.printed,
        math.isclose(row.by_print, row.found, rel_tol=1e-9),
        f"Wrong as printed. {row.right} For {row.instance}, {row.what} is {_number(row.found)}; the print gives "
        f"{_number(row.by_print)}.",
        quote=row.quote,
    )


def relation_table(relations: Sequence[RelationSummary]) -> str:
    """Return the relations in Markdown, with their violations, tightness and known channels."""
    return markdown_table(
        "| relation | violations | found / allowed: mean; most | known channel: found / allowed |",
        "|---|--:|--:|--:|",
        (
            (
                f"**{row.relation}**: {row.says}",
                f"{row.violations} of {row.instances}",
                "fails" if row.fails else f"{about(row.mean_share.value, 3)}; {about(row.tightness, 3)}",
                f"{_number(row.known_found, '∞')} / {_number(row.known_allowed, '∞')}",
            )
            for row in relations
        ),
    )


def property_table(rows: Sequence[PropertyRow]) -> str:
    """Return the properties in Markdown: one row per definition, then the evidence, each reason once.

    An answer in bold stands where the table of the thesis has a question mark.
    """
    properties, definitions = distinct(rows, "property"), distinct(rows, "definition")
    answers = {
        (row.definition, row.property): f"**{row.here}**" if row.table == OPEN else row.here for row in rows
    }
    table = markdown_table(
        f"| definition | {' | '.join(properties)} |",
        f"|---|{'---|' * len(properties)}",
        ((name, *(answers[name, column] for column in properties)) for name in definitions),
    )
    return f"{table}\n{''.join(_reason(where(rows, why=why)) for why in distinct(rows, 'why'))}"


def _reason(rows: Sequence[PropertyRow]) -> str:
    """Return the properties and definitions that share a reason, with the values of counterexamples."""
    properties: dict[str, list[str]] = {}
    for name in distinct(rows, "property"):
        definitions = ", ".join(
            row.definition
            if row.here == YES
            else f"{row.definition} (from {_number(row.before or 0.0, '∞')} to {_number(row.after or 0.0, '∞')})"
            for row in where(rows, property=name)
        )
        properties.setdefault(definitions, []).append(name)
    words = "; ".join(f"{' and '.join(names)} of {definitions}" for definitions, names in properties.items())
    return f"- {words[0].upper()}{words[1:]}: {rows[0].here}: {rows[0].why}.\n"


def erratum_words(rows: Sequence[ErratumRow]) -> str:
    """Return the errata as a list."""
    return "".join(
        f"- **{row.where}.** Printed: \u201c{row.quote}\u201d. Right: {row.right} Example: for {row.instance}, "
        f"{row.what} is {_number(row.found, '∞')}; the print gives {_number(row.by_print, '∞')}.\n"
        for row in rows
    )
