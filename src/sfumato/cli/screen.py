"""Terminal output by rich without markup, and tables whose headings and numbers are never cut."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ..escaping import plain

if TYPE_CHECKING:
    from ..reports import Summary

_GAP: Final = 2  # columns of the terminal between two columns of the table
_WORDS: Final = 26  # text is not wrapped below this while anything else can give way
_EVERY_S: Final = 2.5  # between two lines where there is no terminal
_FOLDED: Final = 20  # words of text cells may be folded at this width, numbers and headings never


class Screen(Console):
    """A console that reads no text as markup and lets no control character through."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as one line of visible characters."""
        return super().render_str(plain(text), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """Show a line with the seconds while the block runs; without a terminal, print it every 2.5 seconds."""
        return _Line(_Seconds(status), console=self, **options)


class _Seconds:
    """A text and how long the work has taken when it is shown."""

    def __init__(self, status: Any) -> None:
        self.status, self._start = status, time.monotonic()

    def __str__(self) -> str:
        return plain(f"{self.status} ({time.monotonic() - self._start:,.0f} s)")

    def __rich__(self) -> Text:
        return Text(str(self))


class _Line(Status):
    """A live line; without a terminal it is printed every `_EVERY_S` seconds."""

    due: ClassVar[float] = time.monotonic() + _EVERY_S
    _printing: threading.Thread | None = None

    def start(self) -> None:
        super().start()
        if not self.console.is_terminal:
            self._stop_event = threading.Event()
            self._printing = threading.Thread(target=self._print, daemon=True)
            self._printing.start()

    def stop(self) -> None:
        if self._printing is not None:
            self._stop_event.set()
            self._printing.join()
            self._printing = None
        super().stop()

    def _print(self) -> None:
        while not self._stop_event.wait(max(0.0, _Line.due - time.monotonic())):
            _Line.due = time.monotonic() + _EVERY_S
            typer.echo(str(self.status), err=True)

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        if status is not None:
            self.status.status = status  # type: ignore[union-attr]
        super().update(**options)


def print_summary(summary: Summary) -> None:
    """Print a summary in words, wrapped to the terminal."""
    console = Screen()
    console.print(Text(summary.title, style="bold"))
    for section in summary.sections:
        console.print(Text(section.title, style="bold cyan"))
        for sentence in section.sentences:
            console.print(Padding(Text(sentence), (0, 0, 0, 2)))


def print_table(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    text: Sequence[int] = (0,),
) -> None:
    """Print rows as a table where it fits, else one below the other."""
    headings = [plain(heading) for heading in headings]
    rows = [[plain(cell) for cell in row] for row in rows]
    if title:
        console.print(Text(plain(title), style="italic"))
    widths = column_widths(headings, rows, text, console.width)
    if widths is None:
        for row in rows:
            first, *cells = row
            console.print(Text(f"{headings[0]}: {first}" if headings[0] else first, style="bold"))
            for heading, cell in zip(headings[1:], cells, strict=True):
                if cell:
                    console.print(Padding(Text(f"{heading}: {cell}" if heading else cell), (0, 0, 0, 2)))
    else:
        look: Any = {"box": box.SIMPLE_HEAD, "show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
        table = Table(show_header=any(headings), **look)
        for k, (heading, width) in enumerate(zip(headings, widths, strict=True)):
            side: Any = "left" if k in text else "right"
            table.add_column(Text(heading), justify=side, width=width, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    console.print()


def column_widths(
    headings: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[int], width: int
) -> list[int] | None:
    """Return the width of each column, or None where the table does not fit without cutting."""
    least, most, easy = [], [], []
    for k, heading in enumerate(headings):
        cells = [row[k] for row in rows]
        words = max((min(cell_len(word), _FOLDED) for cell in cells for word in cell.split()), default=0)
        whole = max(map(cell_len, cells), default=0)
        longest = max(map(cell_len, heading.split()), default=0)
        least.append(max(longest, words if k in text else whole, 1))
        most.append(max(cell_len(heading), whole, 1))
        words_of = heading.split()
        halves = (max(len(" ".join(words_of[:j])), len(" ".join(words_of[j:]))) for j in range(len(words_of) + 1))
        easy.append(max(least[k], min(most[k], _WORDS) if k in text else min(halves)))  # a heading on two lines
    room = width - _GAP * (len(headings) - 1)
    if sum(least) > room:
        return None
    # Headings of numbers wrap first, then words, and only then either as far as it must be.
    for floors in (
        [e if k not in text else m for k, (e, m) in enumerate(zip(easy, most, strict=True))],
        easy,
        least,
    ):
        while sum(most) > room and (wide := [k for k in range(len(most)) if most[k] > floors[k]]):
            most[max(wide, key=lambda k: most[k])] -= 1
    return most
