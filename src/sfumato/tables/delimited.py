"""Tables as text: layout, delimiter and names of CSV, TSV and similar files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ..errors import DataError
from ..escaping import from_csv_cell
from .iso_times import has_unclear_offsets
from .layout import Layout, is_number
from .opened import OpenTable, cause, check_distinct
from .source import Source


class TextTable(OpenTable):
    """A text file with a row per line and one delimiter.

    ``fields`` are the names of all values in a line, ``columns`` those of named columns. ``headless`` files have
    no line of names. ``quotes`` is whether values may stand in quotation marks.
    """

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

        If the first line holds a number, there are no names: the columns are ``f0``, ``f1``, ... An empty file, or
        a first line that names no columns or one twice, is a `DataError`.
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
        return self.layout.misfit(self._source, len(self.fields), quotes=self._quotes)

    def check_quotes(self) -> None:
        """Refuse a file whose last quotation mark is not closed; see `Layout.check_quotes`."""
        if self._quotes:
            self.layout.check_quotes(self._source)

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:
        """Return the rows; see `OpenTable.load`. Empty values are missing, unclear times stay texts."""
        import pyarrow as pa

        source = self._source
        columns = self.columns if columns is None else columns

        def attempt(encoding: str, text: Sequence[str], columns: Sequence[str] = columns) -> Any:
            with self.layout.open(source) as stream:
                return parsed(
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
                found = attempt(encoding, as_text)
            except pa.ArrowInvalid as error:
                if "conversion error" not in str(error):
                    raise
                # A value far down is not of the type that the first ones suggest: let the columns' readers judge.
                encoding = "latin-1" if "UTF8" in str(error) else encoding
                found = attempt(encoding, columns)
            if any(pa.types.is_binary(kind) for kind in found.schema.types):  # not UTF-8 after all
                encoding = "latin-1"
                found = attempt(encoding, as_text)
            zoned = [each.name for each in found.schema if pa.types.is_timestamp(each.type) and each.type.tz]
            if zoned:
                texts = attempt(encoding, zoned, zoned)
                unclear = [name for name in zoned if has_unclear_offsets(texts[name])]
                found = attempt(encoding, [*as_text, *unclear]) if unclear else found
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{source} is not a valid table of text: {self.misfit() or cause(error)}.",
                "every line needs the same number of values, separated alike.",
            ) from None
        return found


def parsed(
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

    ``names`` are for a text without a line of names. ``columns`` are kept, all if None. ``types`` are Arrow types;
    others are inferred. With ``missing`` an empty text is missing; with ``blank_lines`` a blank line is a row of
    an empty value.
    """
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        stream,
        # With threads one of Arrow's may still let go of the stream while Python ends, which aborts the process.
        read_options=arrow_csv.ReadOptions(column_names=names, encoding=encoding, use_threads=False),
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter, quote_char='"' if quotes else False, ignore_empty_lines=not blank_lines
        ),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=columns, column_types=types, strings_can_be_null=missing
        ),
    )


def read_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    """Return the rows of a CSV file in UTF-8 as texts, of any length, without blank lines.

    Apostrophes with which `write_rows` or `write_table` disabled formulas are removed. A file that does not exist,
    is no CSV file or not UTF-8 is a `DataError`.
    """
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
    import pyarrow as pa

    try:
        found = parsed(io.BytesIO(f"{layout.first_line(source)}\n".encode()), delimiter=layout.delimiter)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"the first line of {source} does not name columns: {cause(error)}.",
            "give the columns names such as lat and lon.",
        ) from None
    return [str(name) for name in found.column_names]
