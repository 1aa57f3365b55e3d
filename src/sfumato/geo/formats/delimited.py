"""Tables as text: CSV, TSV and the like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from ...errors import DataError, argument
from .columns import Roles, recognised
from .rows import Rows
from .source import Source
from .table import rows_of

_DELIMITERS: Final = (",", "\t", ";", "|")


def read(source: Source, names: dict[str, str | None], attributes: Sequence[str] | None) -> Rows:
    """Read a table whose first line names its columns; without one they are ``f0``, ``f1``, ...

    Args:
        source: The file.
        names: The columns that the caller named, by role.
        attributes: The other columns to keep; None for all.
    """
    lines = source.first_lines
    delimiter = _delimiter(lines[0])
    fields = [field.strip().strip('"') for field in lines[0].split(delimiter)]
    headless = any(_is_number(field) for field in fields)
    quoted_header = None if headless else _header(source, delimiter)
    columns = [f"f{k}" for k in range(len(fields))] if headless else quoted_header or fields
    what = f"{source} (its first line is taken for data, not for names)" if headless else str(source)
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(f"{source} has more than one column {twice[0]!r}.", "give its columns distinct names.")
    roles = recognised(columns, what, **names)
    content = table(
        source,
        delimiter=delimiter,
        names=columns if headless else None,
        columns=wanted(columns, roles, attributes),
        text=[] if roles.geometry is None else [roles.geometry],  # hexadecimal may look like a number
    )
    return rows_of(content, roles, str(source), decimal_comma=delimiter != ",")


def wanted(columns: Sequence[str], roles: Roles, attributes: Sequence[str] | None) -> list[str]:
    """Return the columns to load, in the order of the file.

    Raises:
        DataError: If a wanted attribute is not there.
    """
    if attributes is None:
        return list(columns)
    missing = [name for name in attributes if name not in columns]
    if missing:
        raise DataError(
            f"there is no column {missing[0]!r}. The columns are: {', '.join(columns)}.",
            f"correct {argument('attributes')}.",
        )
    return [name for name in columns if name in roles.used or name in attributes]


def table(
    source: Source,
    *,
    delimiter: str,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    text: Sequence[str] = (),
    quotes: bool = True,
) -> Any:
    """Return the content as an Arrow table.

    Args:
        source: The file.
        delimiter: What stands between the values.
        names: The names of the columns, where the file has no line of them.
        columns: The columns to keep.
        text: The columns to keep as text, whatever they look like.
        quotes: Whether values may stand in quotation marks.

    Raises:
        DataError: If the file is not such a table.
    """
    import pyarrow as pa
    from pyarrow import csv

    def attempt(encoding: str, as_text: Sequence[str]) -> Any:
        with source.open() as stream:
            return csv.read_csv(
                stream,
                read_options=csv.ReadOptions(column_names=names, encoding=encoding),
                parse_options=csv.ParseOptions(delimiter=delimiter, quote_char='"' if quotes else False),
                convert_options=csv.ConvertOptions(
                    include_columns=columns,
                    column_types={name: pa.string() for name in as_text},
                    strings_can_be_null=True,
                ),
            )

    encoding = "utf8" if source.is_utf8 else "latin-1"
    try:
        try:
            found = attempt(encoding, text)
        except pa.ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
            # A value far down is not of the type that the first ones suggest: let the columns' readers judge.
            encoding = "latin-1" if "UTF8" in str(error) else encoding
            found = attempt(encoding, columns or names or text)
        if any(pa.types.is_binary(kind) for kind in found.schema.types):  # not UTF-8 after all
            found = attempt("latin-1", text)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{source} is not a sound table of text: {str(error).splitlines()[0]}.",
            "every line needs the same number of values, separated alike.",
        ) from None
    return found


def _header(source: Source, delimiter: str) -> list[str]:
    """Return the names of the columns as Arrow sees them (quotation marks, byte order mark)."""
    import io

    import pyarrow as pa
    from pyarrow import csv

    line = source.head.lstrip().splitlines()[0] + b"\n"
    try:
        found = csv.read_csv(
            io.BytesIO(line),
            read_options=csv.ReadOptions(encoding="utf8" if source.is_utf8 else "latin-1"),
            parse_options=csv.ParseOptions(delimiter=delimiter),
        )
    except pa.ArrowInvalid as error:
        raise DataError(
            f"the first line of {source} does not name columns: {str(error).splitlines()[0]}.",
            "give the columns names such as lat and lon.",
        ) from None
    return [str(name) for name in found.column_names]


def _delimiter(line: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=unquoted.count)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?", text) is not None
