"""HTML of objects in notebooks: tables, with figures or bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Final

import numpy as np

from ...attacks import AttackResult
from ...audits import Audit
from ...core import Mechanism, Metric, Prior, Space
from ...core.arrays import Floats
from ...core.immutable import CompactRepr, brief
from ...errors import MissingExtraError
from ...escaping import html, shorten
from ...estimation import PopulationEstimate
from ...files import MechanismFile
from ...geo import Places
from ...optimal import Design
from ...rounding import about, amount, percent
from ..facts.requirements import notions_of
from ..picture import places_panel, prior_titles
from ..sentences import notion_rows, settled_words, share_rows, withheld_words
from ..summary import summarise, summarise_noise
from ..theme import as_svg
from ..values import MOST_VALUES, prior_bars
from .figures import atlas_figure, map_figures

_MOST_PLACES: Final = 400  # places: a notebook keeps what it shows
_MOST_ROWS: Final = 10  # rows or labels
_BARS: Final = 60
_CLAIMS: Final = "These are claims of its maker: sf.audit proves what holds."
_WIDTH, _HEIGHT = 300, 48  # of the bars


@singledispatch
def notebook_html(value: object) -> str:
    """Return an object as notebooks show it: a table of its fields, with its repr where it has one of its own."""
    attributes = fields(value) if is_dataclass(value) else ()
    rows = [
        (attribute.name.replace("_", " ").capitalize(), shorten(brief(getattr(value, attribute.name))))
        for attribute in attributes
        if attribute.repr and attribute.name[0] != "_"
    ]
    has_repr = type(value).__repr__ is not CompactRepr.__repr__
    return _table(type(value).__name__, rows, shorten(repr(value)) if has_repr else "")


@notebook_html.register
def _of_prior(prior: Prior) -> str:
    p = prior.probabilities
    top = np.argsort(-p, kind="stable")[:3].tolist()
    rows = [
        ("Values", f"{len(prior):,}"),
        ("Possible", f"{len(prior.support):,}"),
        ("Entropy", f"about {about(prior.entropy_bits)} bits of at most {about(float(np.log2(len(prior))))}"),
        *((f"Most probable: {shorten(prior.space.labels[i])}", percent(float(p[i]))) for i in top if p[i] > 0),
    ]
    return _table("Prior", rows, figures=_prior_figure(prior) or _bars(p))


@notebook_html.register
def _of_mechanism(mechanism: Mechanism) -> str:
    n, m = mechanism.shape
    labels = mechanism.secrets.labels
    unused = int((~(mechanism.weights != 0).any(axis=0)).sum())
    bits = mechanism.bits
    rows = [
        ("Secrets", f"{n:,}: {shorten(labels[0])}{f' to {shorten(labels[-1])}' if n > 1 else ''}"),
        ("Reports", f"{m:,}{f', {unused:,} of them never made' if unused else ''}"),
        ("Kept as", f"integers of {bits} bits; each row sums to 2 to the power of {bits}"),
        *(("Claimed", shorten(guarantee)) for guarantee in mechanism.guarantees),
    ]
    note = _CLAIMS if mechanism.guarantees else ""
    file = MechanismFile(mechanism, Prior.uniform(mechanism.secrets), guarantees=())
    return _table("Mechanism", rows, note, _maps(file, "<p>The figures take all secrets for equally likely.</p>"))


@notebook_html.register
def _of_design(design: Design) -> str:
    if design.has_program:
        summary = summarise(design)
        maps = _maps(MechanismFile(design.mechanism, design.problem.prior, guarantees=()))
        more = [("Status", design.status.value)]
    else:
        summary, maps = summarise_noise(MechanismFile.of_design(design), design.certificate), ""
        more = [] if design.choice is None else [("Choice", design.choice.sentence)]
    rows = [(section.title, " ".join(section.sentences)) for section in summary.sections]
    return _table("Design", [*rows, *more], figures=maps)


@notebook_html.register
def _of_audit(audit: Audit) -> str:
    notions = notions_of(audit)
    figure = f'<div style="overflow-x: auto">{atlas_figure(notions).svg}</div>'
    headings, rows = notion_rows(notions)
    return _table(f"Audit of {shorten(audit.subject)}", rows, " ".join(audit.notes), figure, headings)


@notebook_html.register
def _of_space(space: Space) -> str:
    labels = ", ".join(map(shorten, space.labels[:_MOST_ROWS])) + (", ..." if len(space) > _MOST_ROWS else "")
    rows = [("Values", f"{len(space):,}: {labels}"), ("Description", repr(space))]
    if isinstance(space, Places):
        (south, west), (north, east) = space.latlon.min(axis=0), space.latlon.max(axis=0)
        rows.append(("Latitude and longitude", f"{south:.5f}, {west:.5f} to {north:.5f}, {east:.5f}"))
    elif space.coordinates is not None:
        low, high = space.coordinates.min(axis=0).tolist(), space.coordinates.max(axis=0).tolist()
        ends = (f"{about(a)} to {about(b)}" for a, b in zip(low, high, strict=True))
        rows.append(("Coordinates", f"{', '.join(ends)} {space.unit}".rstrip()))
    return _table(type(space).__name__, rows)


@notebook_html.register
def _of_metric(metric: Metric) -> str:
    distances = metric.array
    apart = distances[(distances > 0) & np.isfinite(distances)]
    rows = [("Values", f"{len(metric):,}"), ("Distance", shorten(metric.name))]
    if apart.size:
        span = f"{amount(float(apart.min()), metric.unit)} to {amount(float(apart.max()), metric.unit)}"
        rows.append(("Between two values", span))
    if not metric.symmetric:
        rows.append(("Direction", "the way back may be longer"))
    if far := int(np.isinf(distances).sum()):
        pairs = f"{far // 2:,} pairs" if metric.symmetric else f"{far:,} ordered pairs"
        rows.append(("Unlimited pairs", f"{pairs} are infinitely far apart"))
    return _table("Metric", rows)


@notebook_html.register
def _of_file(file: MechanismFile) -> str:
    rows = [
        ("Mechanism", shorten(repr(file.mechanism))),
        ("Prior", "none" if file.prior is None else shorten(repr(file.prior))),
        *(("Guarantee", shorten(guarantee)) for guarantee in (*file.guarantees, *file.tuple_guarantees)),
        *(("Linear constraint", shorten(constraint)) for constraint in file.constraints),
        *(("Claimed", shorten(name)) for name in sorted(file.claims)),
    ]
    return _table("Mechanism file", rows, _CLAIMS)


@notebook_html.register
def _of_attacks(result: AttackResult) -> str:
    return tables_html(result.tables())


@notebook_html.register
def _of_estimate(result: PopulationEstimate) -> str:
    estimate, gaps = result.estimate, result.open_shares
    order = sorted(set(range(len(estimate.space))) - gaps, key=lambda at: -float(estimate.probabilities[at]))
    headings, rows = share_rows(estimate, order[:_MOST_ROWS])
    districts = () if estimate.districts is None else (settled_words(estimate.districts),)
    warning = (withheld_words(len(gaps), len(estimate.space)),) if gaps else ()
    return _table(repr(estimate), rows, " ".join((*districts, *warning, *result.notes)), headings=headings)


def tables_html(tables: Iterable[tuple[str, Sequence[str], Iterable[Sequence[str]]]], note: str = "") -> str:
    """Return tables of words, each with its title, headings and rows; texts are escaped."""
    parts = [_table(title, rows, headings=headings) for title, headings, rows in tables]
    return f"<div>{''.join(parts)}<p>{html(note)}</p></div>"


def _table(
    title: str, rows: Iterable[Sequence[str]], note: str = "", figures: str = "", headings: Sequence[str] = ()
) -> str:
    """Return a table of words, whose texts are escaped: the first cell of a row is its heading."""
    lines = []
    if any(headings):
        inner = "".join(f'<th scope="col" style="text-align:left">{html(heading)}</th>' for heading in headings)
        lines.append(f"<tr>{inner}</tr>")
    for heading, *cells in rows:
        inner = "".join(f'<td style="text-align:left">{html(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row" style="text-align:left">{html(heading)}</th>{inner}</tr>')
    caption = f'<caption style="text-align:left"><strong>{html(title)}</strong></caption>'
    below = f"<p>{html(note)}</p>" if note else ""
    return f"<div><table>{caption}<tbody>{''.join(lines)}</tbody></table>{figures}{below}</div>"


def _maps(file: MechanismFile, note: str = "") -> str:
    if max(file.report_channel.shape) > _MOST_PLACES:
        return ""
    return "".join(f"{figure.svg}<p>{figure.caption}</p>{note}" for figure in map_figures(file))


def _prior_figure(prior: Prior) -> str:
    """Return a picture of a prior; "" where it has too many values, or matplotlib is not installed."""
    space = prior.space
    try:
        if isinstance(space, Places) and len(prior) <= _MOST_PLACES:
            figure = places_panel(space, prior.probabilities, *prior_titles(prior))
        elif not isinstance(space, Places) and len(prior) <= MOST_VALUES:
            figure = prior_bars(prior)
        else:
            return ""
    except MissingExtraError:
        return ""
    svg = as_svg(figure, title="Prior", description="How common each value is.")
    return f'<div style="max-width: 30rem">{svg}</div>'


def _bars(shares: Floats) -> str:
    """Return shares as bars, in their order; the highest fills the height."""
    parts = np.array_split(shares, min(_BARS, len(shares)))
    heights = np.array([part.sum() for part in parts])
    tallest = float(heights.max()) or 1.0
    wide = _WIDTH / len(heights)
    bars = "".join(
        f'<rect x="{at * wide:.2f}" y="{_HEIGHT * (1 - height / tallest):.2f}" width="{0.85 * wide:.2f}" '
        f'height="{_HEIGHT * height / tallest:.2f}"/>'
        for at, height in enumerate(heights.tolist())
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="The shares as bars, in the order of the values" fill="currentColor">{bars}</svg>'
    )
