"""Figures for notebooks: those of a report, of a design, a mechanism, a prior or an audit."""

from __future__ import annotations

from typing import Final

from ...audits import Audit
from ...core import Mechanism, Prior
from ...errors import MissingExtraError
from ...files import MechanismFile
from ...geo import Places
from ...optimal import Design
from ..scene import prior_panel
from ..theme import as_svg
from ..values import MOST_VALUES, prior_bars
from .atlas_drawing import atlas_figure
from .figures import map_figures
from .measured import notions_of

_MOST: Final = 400  # places: a notebook keeps what it shows


def figures_of(shown: object) -> str:
    """Return the figures of an object as HTML; "" where there is nothing to draw, or nothing to draw with.

    Args:
        shown: A design, a mechanism, a prior or an audit.
    """
    if isinstance(shown, Audit):
        return f'<div style="overflow-x: auto">{atlas_figure(notions_of(shown)).svg}</div>'
    if isinstance(shown, Prior):
        return _of_prior(shown)
    if isinstance(shown, Design):
        held = MechanismFile(shown.mechanism, shown.problem.prior, guarantees=())
    elif isinstance(shown, Mechanism):
        held = MechanismFile(shown, Prior.uniform(shown.secrets), guarantees=())
    else:
        return ""
    if max(held.mechanism.shape) > _MOST:
        return ""
    taken = "" if isinstance(shown, Design) else "<p>The figures take all secrets for equally likely.</p>"
    return "".join(f"{figure.svg}<p>{figure.caption}</p>{taken}" for figure in map_figures(held))


def _of_prior(prior: Prior) -> str:
    of_places = isinstance(prior.space, Places)
    if len(prior) > (_MOST if of_places else MOST_VALUES):
        return ""
    try:
        figure = prior_panel(prior) if of_places else prior_bars(prior)
    except MissingExtraError:
        return ""
    drawn = as_svg(figure, title="Prior", description="How common each value is.")
    return f'<div style="max-width: 30rem">{drawn}</div>'
