"""The terminal, on which text from outside is text and nothing else."""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType
from rich.status import Status
from rich.style import StyleType
from rich.text import Text

from ..escaping import plain


class Screen(Console):
    """A console that takes no text for markup and lets no control character through.

    Args:
        stderr: Whether it writes to the error stream.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, which all that is printed passes, as one line of visible characters."""
        return super().render_str(plain(text), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """Show a line with a turning sign while the block runs."""
        return _Line(_text(status), console=self, **options)


class _Line(Status):
    def update(
        self,
        status: RenderableType | None = None,
        *,
        spinner: str | None = None,
        spinner_style: StyleType | None = None,
        speed: float | None = None,
    ) -> None:
        super().update(_text(status), spinner=spinner, spinner_style=spinner_style, speed=speed)


def _text(status: Any) -> Any:
    return Text(plain(status)) if isinstance(status, str) else status
