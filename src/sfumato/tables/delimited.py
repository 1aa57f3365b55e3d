"""Tables as text: layout, delimiter and names of CSV, TSV and similar files."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Self, TextIO, cast

from .._system import arrow_csv, pa
from ..errors import DataError
from ..escaping import from_csv_cell
from ..rounding import plural
from .iso_times import has_unclear_offsets
from .source import ConvertedFile, OpenTable, Source, cause, check_distinct

_BLOCK: Final = 2**20
_DELIMITERS: Final = (",", "\t", ";", "|")
_EXCEL: Final = re.compile(r'"?sep=(.|\\t)"?', re.IGNORECASE)
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d+,\d+")
_NO_QUOTE: Final = "\x01"


class TextTable(OpenTable):
    """A text file with a row per line; ``fields`` name all values, ``columns`` the named ones."""

    __slots__ = ("_quotes", "_source", "fields", "headless", "layout")

    def __init__(
        self, source: Source, layout: Layout, columns: Sequence[str], *, headless: bool, quotes: bool = True
    ) -> None:
        twice = columns.count("") > 1  # spreadsheets end lines with delimiters of empty columns
        super().__init__(str(source), [name for name in columns if name] if twice else columns)
        self.headless = headless
        self.layout = layout
        self.fields = tuple(columns)
        self._source = source
        self._quotes = quotes

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the table of a file, with the delimiter and names of its first lines.

        If the first line holds a number, there are no names: the columns are ``f0``, ``f1``, ...
        """
        layout = Layout.of(source)
        fields = [field.strip() for field in layout.fields(source)]
        headless = any(is_number(field) for field in fields)
        columns = [f"f{k}" for k in range(len(fields))] if headless else _header(source, layout) or fields
        table = cls(source, layout, columns, headless=headless)
        check_distinct(table.columns, str(source))
        return table

    @property
    def blank_lines(self) -> bool:
        """Whether a blank line is a row: in a table of one column it is an empty value."""
        return len(self.fields) == 1 and bool(self._source.head.splitlines()[self.layout.before].strip())

    def misfit(self) -> str | None:
        """Return where the first row is that has another number of values, in words; None if none has."""
        stream, layout = self.layout.open(self._source), self.layout
        return misfit(stream, layout.delimiter, len(self.fields), layout.before, quotes=self._quotes)

    def check_quotes(self) -> None:
        """Refuse a file whose last quotation mark is not closed; see `Layout.check_quotes`."""
        if self._quotes:
            self.layout.check_quotes(self._source)

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:
        """Return the rows; see `OpenTable.load`. Empty values are missing, unclear times stay texts."""
        source = self._source
        columns = self.columns if columns is None else columns

        def attempt(encoding: str, text: Sequence[str], columns: Sequence[str] = columns) -> Any:
            with self.layout.open(source) as stream:
                return parse_rows(
                    stream,
                    delimiter=self.layout.delimiter,
                    names=self.fields if self.headless else None,
                    columns=columns,
                    types=dict.fromkeys(text, pa.string()),
                    quotes=self._quotes,
                    encoding=encoding,
                    missing=True,
                    blank_lines=self.blank_lines,
                )

        encoding = "utf8" if source.is_utf8 else "latin-1"
        self.check_quotes()
        try:
            try:
                table = attempt(encoding, as_text)
            except pa.ArrowInvalid as error:
                if "conversion error" not in str(error):
                    raise
                # A value far down is not of the type that the first ones suggest: let the columns' readers judge.
                encoding = "latin-1" if "UTF8" in str(error) else encoding
                table = attempt(encoding, columns)
            if any(pa.types.is_binary(kind) for kind in table.schema.types):  # not UTF-8 after all
                encoding = "latin-1"
                table = attempt(encoding, as_text)
            zoned = [field.name for field in table.schema if pa.types.is_timestamp(field.type) and field.type.tz]
            if zoned:
                texts = attempt(encoding, zoned, zoned)
                unclear = [name for name in zoned if has_unclear_offsets(texts[name])]
                table = attempt(encoding, [*as_text, *unclear]) if unclear else table
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{source} is not a valid table of text: {self.misfit() or cause(error)}.",
                "every line needs the same number of values, separated alike.",
            ) from None
        return table


def parse_rows(
    stream: Any,
    *,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    quotes: bool = True,
    encoding: str = "utf8",
    missing: bool = False,
    blank_lines: bool = False,
) -> Any:
    """Return the rows of a text, a file of bytes, as a pyarrow Table; errors are Arrow's.

    ``names`` are for a text without a line of names, and types other than ``types`` are inferred. With ``missing``
    an empty text is missing; with ``blank_lines`` a blank line is a row of an empty value.
    """
    # With threads one of Arrow's may still let go of the stream while Python ends, which aborts the process.
    read = arrow_csv.ReadOptions(column_names=names, encoding=encoding, use_threads=False)
    quote = '"' if quotes else False
    parse = arrow_csv.ParseOptions(delimiter=delimiter, quote_char=quote, ignore_empty_lines=not blank_lines)
    convert = arrow_csv.ConvertOptions(include_columns=columns, column_types=types, strings_can_be_null=missing)
    return arrow_csv.read_csv(stream, read_options=read, parse_options=parse, convert_options=convert)


def read_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    """Return the rows of a CSV file in UTF-8 as texts, without blank lines and apostrophes against formulas."""
    source = Source.of(Path(path))
    try:
        text = io.StringIO(source.read().decode("utf-8-sig"), newline="")
        return [[from_csv_cell(field) for field in row] for row in csv.reader(text) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{os.fspath(path)!r} is not a CSV file ({cause(error)}).", "save it as CSV in UTF-8."
        ) from None


def _header(source: Source, layout: Layout) -> list[str]:
    """Return the names of the columns as Arrow sees them (quotation marks)."""
    try:
        names = parse_rows(io.BytesIO(f"{layout.first_line(source)}\n".encode()), delimiter=layout.delimiter)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"the first line of {source} does not name columns: {cause(error)}.",
            "give the columns names such as lat and lon.",
        ) from None
    return [str(name) for name in names.column_names]


class Layout(NamedTuple):
    """Layout of a text file, with ``before`` lines before the rows, and any ``blanks`` as one delimiter."""

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
            before = next(number for number, line in enumerate(source.head.splitlines(), 1) if line.strip())
            return cls("\t" if excel[1] == "\\t" else excel[1], before)
        line = re.sub(r'"[^"]*"', "", lines[0])
        for delimiter in _DELIMITERS[1:]:  # between numbers such as 48,85 a comma is none
            fields = line.split(delimiter)
            if len(fields) > 1 and any(_DECIMAL_COMMA.fullmatch(field.strip()) for field in fields):
                return cls(delimiter)
        delimiter = max(_DELIMITERS, key=line.count)
        rows = [line.split() for line in lines]
        numbers = max(sum(map(is_number, row)) for row in rows[:2])
        if not line.count(delimiter) and numbers > 1 and len({len(row) for row in rows}) == 1:
            return cls("\t", blanks=True)  # blanks stand between as many values in each line
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
            file = cast(BinaryIO, io.BufferedReader(_TabContent(file), _BLOCK))
        for _ in range(self.before):
            file.readline()
        return file

    def check_quotes(self, source: Source) -> None:
        """Refuse a file whose last quotation mark is not closed (`DataError`); later rows would be one value."""
        with self.open(source) as stream:
            odd = sum(block.count(b'"') for block in iter(lambda: stream.read(_BLOCK), b"")) % 2
        if not odd:
            return
        line = self.before + 1
        with _text(self.open(source)) as text:
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                for _ in reader:
                    line = self.before + reader.line_num + 1
            except csv.Error as error:
                if "end of data" in str(error):
                    raise DataError(
                        f"a quotation mark in line {line} of {source} is not closed.",
                        "close or remove it",
                        "check that the file was written or downloaded completely.",
                    ) from None


def misfit(stream: BinaryIO, delimiter: str, width: int, before: int = 0, *, quotes: bool = True) -> str | None:
    """Return in words where the first row with another number of values is, and close the file of bytes."""
    end = 0
    with suppress(csv.Error), _text(stream) as text:
        reader = csv.reader(text, delimiter=delimiter, quotechar='"' if quotes else _NO_QUOTE)
        for row in reader:
            if row and len(row) != width:
                return f"line {end + before + 1} has {plural(len(row), 'value')}, but {width} are needed"
            end = reader.line_num
    return None


def _text(stream: BinaryIO) -> TextIO:
    return io.TextIOWrapper(stream, "latin-1", newline="")


class _TabContent(ConvertedFile):
    """The content of a text with a tab in place of the blanks between values."""

    def convert(self) -> bytes | None:
        block = self._file.read(_BLOCK) + self._file.readline()
        if not block:
            return None
        trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", block)
        return re.sub(rb'("[^"\n]*")|[ \t]+', lambda match: match[1] or b"\t", trimmed)


def is_number(text: str) -> bool:
    """Return whether a value of a text is a number, also with a decimal comma."""
    return re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", text) is not None
