"""The figures of an audit on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...errors import InputError
from ..messages import say
from ..outputs import check_drawable, check_folder, theme_of

if TYPE_CHECKING:
    from ...audits import AuditPlan

_KINDS: Final = ("png", "svg", "pdf")


@dataclass(frozen=True, slots=True)
class FiguresAsked:
    """The figures that were asked for: ``--figures``, ``--figures-as`` and ``--dark``."""

    folder: Path
    kind: str
    dark: bool

    def write(self, plan: AuditPlan) -> None:
        """Write the figures of what was measured, and say which there is not, and why."""
        from ...reports import audit_figures

        inputs = plan.inputs
        figures = audit_figures(
            plan.mechanism,
            prior=inputs.prior,
            metric=inputs.metric,
            relation=inputs.relation,
            events=inputs.events,
        )
        for path in figures.save(self.folder, ending=f".{self.kind}", theme=theme_of(dark=self.dark)):
            say(f"Written: {path}", err=True)
        for name, why in figures.left_out.items():
            do = "; add --metric or --distances" if inputs.metric is None else ""
            say(f"Left out: {name}.{self.kind}, because {why}{do}.", err=True)


def figures_asked(folder: Path | None, kind: str, *, dark: bool) -> FiguresAsked | None:
    """Return which figures are asked for, checked before the work; None for none.

    Args:
        folder: ``--figures``.
        kind: ``--figures-as``.
        dark: ``--dark``.

    Raises:
        InputError: If the kind is unknown, or no figures are asked for.
        FileError: If nothing can be written to the folder.
        MissingExtraError: If matplotlib is not installed.
    """
    known = kind.lower().removeprefix(".")
    if known not in _KINDS:
        raise InputError(f"there are no figures as {kind!r}.", f"use {', '.join(_KINDS[:-1])} or {_KINDS[-1]}.")
    if folder is None:
        if dark or known != _KINDS[0]:
            option = "--dark" if dark else "--figures-as"
            raise InputError(f"{option} was given, but no figures are drawn.", "add --figures FOLDER.")
        return None
    check_folder(folder)
    check_drawable()
    return FiguresAsked(folder, known, dark)
