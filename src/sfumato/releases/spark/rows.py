"""Rows of Spark, and the columns that name them: the same names when a task runs again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument
from ...tables import no_column
from ..kernel import Kernel
from ..local import of_one
from ..promises import People
from ..users import counts_of_names

_FILE: Final = "_sfumato_file"
_ROW: Final = "_sfumato_row"
_METADATA: Final = {_FILE: "_metadata.file_path", _ROW: "_metadata.row_index"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRows(CompactRepr):
    """The rows of a source.

    Attributes:
        frame: The data frame, with the columns of the key.
        key: The columns that name a row.
        columns: The columns of the source itself.
        name: What messages call it.
        files_only: Whether each row is one of a file, and no view lies between, which could repeat rows.
    """

    frame: Any
    key: tuple[str, ...]
    columns: tuple[str, ...]
    name: str
    files_only: bool = False

    @classmethod
    def of(cls, spark: Any, source: Any, key: str | None) -> SparkRows:
        """Return the rows of a source.

        Args:
            spark: The session.
            source: The path of Parquet files, the name of a table, or a data frame of this session.
            key: The column whose values are different in every row; None to name rows by file and position.

        Raises:
            InputError: If rows have no lasting names.
            DataError: If the source cannot be read, or has no such column.
        """
        frame, name = _read(spark, source)
        columns = tuple(frame.columns)
        if len(set(columns)) < len(columns):
            raise DataError(f"two columns of {name} have the same name.", "rename one first.")
        if not frame._jdf.queryExecution().analyzed().deterministic():
            raise InputError(
                f"{name} gives other rows when a task runs again: its plan draws or numbers rows at random.",
                "write it to a table first, and release that.",
            )
        if key is None:
            if not isinstance(source, str | os.PathLike):
                raise InputError(
                    "rows of a data frame have no lasting names, by which a task that runs again knows them.",
                    f"name a column that is different in every row with {argument('key', 'id')}",
                    "write them to Parquet files and release these.",
                )
            return cls(_positioned(frame, name), (_FILE, _ROW), columns, name, _is_path(source))
        if key not in columns:
            raise no_column(columns, key, "key", name)
        kind = frame.schema[key].dataType.typeName()
        if kind not in ("string", "byte", "short", "integer", "long", "decimal", "binary", "date"):
            raise InputError(
                f"the column {key!r} is of {kind}, which names no rows.", "use a column of texts or whole numbers."
            )
        return cls(frame, (key,), columns, name)

    def selected(self, names: Iterable[str]) -> Any:
        """Return a data frame of some columns, each once.

        Args:
            names: Their names.
        """
        return self.frame.select(*map(_quoted, dict.fromkeys(names)))

    def check_key(self) -> None:
        """Refuse a key that two rows share or that is missing; a job of Spark counts.

        Raises:
            DataError: If it does.
            InputError: If rows are named by file and number, and a view repeats them.
        """
        from pyspark.sql import functions

        if self.files_only:
            return  # unique as it is
        columns = [functions.col(_quoted(name)).alias(f"k{number}") for number, name in enumerate(self.key)]
        nowhere = " or ".join(f"k{number} is null" for number in range(len(columns)))
        found = self.frame.groupBy(*columns).count().where(f"count > 1 or {nowhere}")
        shared, rows = found.agg(functions.count("*"), functions.sum("count")).collect()[0]
        if shared and self.key == (_FILE, _ROW):
            raise InputError(
                f"{rows:,} rows of {self.name} come from a row of a file that another comes from, too.",
                f"name a column that is different in every row with {argument('key', 'id')}.",
            )
        if shared:
            raise DataError(
                f"the column {self.key[0]!r} does not name rows: {rows:,} rows of {self.name} share a value "
                "with another, or have none.",
                "name a column that is different in every row.",
            )

    def people(self, kernel: Kernel) -> People:
        """Return how many rows there are, and how many reports of one user at most; a job of Spark counts.

        Users are told apart as elsewhere: blanks around a name, and how Unicode composes it, do not count.

        Args:
            kernel: The kernel, which knows the column of users.
        """
        from pyspark.sql import functions

        user = kernel.user
        if user is None or kernel.people == "one":
            return of_one(int(self.frame.count()), kernel)
        kind, name = self.frame.schema[user].dataType.typeName(), functions.col(_quoted(user))
        if kind in ("string", "varchar", "char"):
            names = self.frame.select(name.alias("name")).mapInArrow(_counted, "name string, n long")
        else:
            if kind in ("float", "double"):
                name = functions.when(~functions.isnan(name), name)
            text = functions.hex(name) if kind == "binary" else name.cast("string")
            names = self.frame.select(text.alias("name"), functions.lit(1).alias("n"))
        nobody = functions.col("name").isNull()
        found = names.groupBy("name").agg(functions.sum("n").alias("n")).groupBy(nobody, "n").count().collect()
        counts = tuple(sorted((int(row[1]), int(row[2])) for row in found if not row[0]))
        nameless = sum(int(row[1]) * int(row[2]) for row in found if row[0])
        rows, users = sum(reports * users for reports, users in counts), sum(users for _, users in counts)
        most = (counts[-1][0] if counts else 0) + nameless
        people = People(rows + nameless, most, users or None, nameless=nameless, counts=counts)
        return people.times(kernel.places)


def _counted(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the names in batches of one column, in one spelling, and how many rows have each."""
    import pyarrow as pa

    for batch in batches:
        names, rows = counts_of_names(batch.column(0))
        yield pa.RecordBatch.from_arrays([names.cast(pa.string()), rows], names=["name", "n"])


def _read(spark: Any, source: Any) -> tuple[Any, str]:
    from pyspark.errors import AnalysisException
    from pyspark.sql import DataFrame

    if isinstance(source, DataFrame):
        return source, "the data frame"
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"a value of {type(source)} is no source for Spark.",
            "pass the path of Parquet files, the name of a table, or a data frame of Spark.",
        )
    text = os.fspath(source)
    try:
        return (spark.read.parquet(text) if _is_path(source) else spark.table(text)), repr(text)
    except AnalysisException as error:
        raise DataError(
            f"Spark cannot read {text!r} ({str(error).splitlines()[0]}).",
            "pass the path of Parquet files, the name of a table, or a data frame with a key.",
        ) from None


def _is_path(source: str | os.PathLike[str]) -> bool:
    return not isinstance(source, str) or "/" in source or source.endswith(".parquet")


def _positioned(frame: Any, name: str) -> Any:
    """Return the rows with the file that each is in, and its number there: both stay the same while files do."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions

    try:
        return frame.select("*", *(functions.col(each).alias(alias) for alias, each in _METADATA.items()))
    except AnalysisException:
        raise InputError(
            f"Spark does not say where in its files the rows of {name} are.",
            f"name a column that is different in every row with {argument('key', 'id')}.",
        ) from None


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
