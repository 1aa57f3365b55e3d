"""Layout of text files: what stands between the values of a row, and the line where the rows begin."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO, Final, NamedTuple, Self, TextIO, cast

from ..errors import DataError
from ..rounding import counted
from .source import ConvertedFile, Source

_BLOCK: Final = 2**20
_DELIMITERS: Final = (",", "\t", ";", "|")
_EXCEL: Final = re.compile(r'"?sep=(.|\\t)"?', re.IGNORECASE)
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d+,\d+")
_NO_QUOTE: Final = "\x01"


class Layout(NamedTuple):
    """Layout of a text file: what stands between the values of a row, and where the rows begin.

    ``before`` counts the lines before the names or the first row, such as ``sep=;`` of Excel. With ``blanks`` any
    number of blanks separates values; such files are read with tabs in their place.
    """

    delimiter: str
    before: int = 0
    blanks: bool = False

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the layout that the first lines of a file show; `DataError` if the file holds nothing."""
        lines = source.first_lines
        if not lines:
            raise DataError(f"{source} holds nothing but blanks.", "check that it is the right file.")
        excel = _EXCEL.fullmatch(lines[0].strip())
        if excel:
            begun = next(number for number, line in enumerate(source.head.splitlines(), 1) if line.strip())
            return cls("\t" if excel[1] == "\\t" else excel[1], begun)
        line = re.sub(r'"[^"]*"', "", lines[0])
        for delimiter in _DELIMITERS[1:]:  # between numbers such as 48,85 a comma is none
            fields = line.split(delimiter)
            if len(fields) > 1 and any(_DECIMAL_COMMA.fullmatch(field.strip()) for field in fields):
                return cls(delimiter)
        delimiter = max(_DELIMITERS, key=line.count)
        if not line.count(delimiter) and _between_blanks(lines):
            return cls("\t", blanks=True)
        return cls(delimiter)

    def first_line(self, source: Source) -> str:
        """Return the first line of the table of a file; `DataError` if there is none."""
        lines = source.first_lines[1 if self.before else 0 :]
        if not lines:
            raise DataError(f"{source} holds no table below its first line.", "check that it is the right file.")
        return "\t".join(lines[0].split()) if self.blanks else lines[0]

    def fields(self, source: Source) -> list[str]:
        """Return the values of the first line of the table of a file."""
        return next(csv.reader([self.first_line(source)], delimiter=self.delimiter))

    def open(self, source: Source) -> BinaryIO:
        """Return the content of a file with this layout, without the lines before the rows."""
        file = source.open_binary()
        if self.blanks:
            file = cast(BinaryIO, io.BufferedReader(_Tabbed(file), _BLOCK))
        for _ in range(self.before):
            file.readline()
        return file

    def misfit(self, source: Source, width: int, *, quotes: bool = True) -> str | None:
        """Return in words where the first row without ``width`` values is, None if none is; see `misfit`."""
        return misfit(self.open(source), self.delimiter, width, self.before, quotes=quotes)

    def check_quotes(self, source: Source) -> None:
        """Refuse a file whose last quotation mark is not closed (`DataError`); later rows would be one value."""
        with self.open(source) as stream:
            odd = sum(block.count(b'"') for block in iter(lambda: stream.read(_BLOCK), b"")) % 2
        if not odd:
            return
        begun = self.before + 1
        with _text(self.open(source)) as text:
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                for _ in reader:
                    begun = self.before + reader.line_num + 1
            except csv.Error as error:
                if "end of data" in str(error):
                    raise DataError(
                        f"a quotation mark in line {begun} of {source} is not closed.",
                        "close or remove it",
                        "check that the file was written or downloaded completely.",
                    ) from None


def misfit(stream: BinaryIO, delimiter: str, width: int, before: int = 0, *, quotes: bool = True) -> str | None:
    """Return in words where the first row with another number of values than ``width`` is; None if there is none.

    The file of bytes is closed. ``before`` lines of the file stand before the text; with ``quotes`` values may
    stand in quotation marks.
    """
    begun = 0
    with suppress(csv.Error), _text(stream) as text:
        reader = csv.reader(text, delimiter=delimiter, quotechar='"' if quotes else _NO_QUOTE)
        for row in reader:
            if row and len(row) != width:
                return f"line {begun + before + 1} has {counted(len(row), 'value')}, but {width} are needed"
            begun = reader.line_num
    return None


def _text(stream: BinaryIO) -> TextIO:
    return io.TextIOWrapper(stream, "latin-1", newline="")


class _Tabbed(ConvertedFile):
    """The content of a text with a tab in place of the blanks between values."""

    def convert(self) -> bytes | None:
        block = self._file.read(_BLOCK) + self._file.readline()
        if not block:
            return None
        trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", block)
        return re.sub(rb'("[^"\n]*")|[ \t]+', lambda found: found[1] or b"\t", trimmed)


def _between_blanks(lines: Sequence[str]) -> bool:
    """Return whether blanks stand between the values of lines: as many in each, and numbers in one of two."""
    rows = [line.split() for line in lines]
    numbers = max(sum(map(is_number, row)) for row in rows[:2])
    return numbers > 1 and len({len(row) for row in rows}) == 1


def is_number(text: str) -> bool:
    """Return whether a value of a text is a number, also with a decimal comma."""
    return re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", text) is not None
