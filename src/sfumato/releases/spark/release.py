"""Releases on Spark: proved and counted first, drawn in tasks, and written by Spark."""

from __future__ import annotations

import os
import re
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from ..._system import pa
from ...core.arguments import check_arguments
from ...core.immutable import CompactRepr
from ...errors import DataError, FileError, InputError, argument
from ...rounding import at_most, plural
from ...tables import counts_of_names, no_column
from ..draws import Tally
from ..engine import outcome_of
from ..kernel import Kernel
from ..options import ALLOWED, Outside, check_options
from ..promises import People, PersonLimits, bounds_of_report, people_without_users, report_bounds, sentences
from ..provenance import INSIDE, Mark, Release
from ..sources import check_table
from .tasks import (
    COUNTS,
    SPARK_OPTIONS,
    RunSecret,
    counting_task,
    drawing_task,
    kernel_error,
    refuse_unserved,
    session,
    spark_schema,
)

_GLOB: Final = re.compile(r"[][{}*?\\]")
_ROWS: Final = "rows"
_RUN_BYTES: Final = 8
_OWNER_ONLY: Final = 0o700
_FILE: Final = "_sfumato_file"
_ROW: Final = "_sfumato_row"
_METADATA: Final = {_FILE: "_metadata.file_path", _ROW: "_metadata.row_index"}


class SparkTarget:
    """A folder on a file system of Spark, made in a hidden one that no task of a killed run can write to."""

    def __init__(self, spark: Any, target: str) -> None:
        hadoop = spark._jvm.org.apache.hadoop.fs
        self._name = target
        with self._file_errors():
            path = hadoop.Path(target)
            self._files = path.getFileSystem(spark._jsc.hadoopConfiguration())
            self._target = self._files.makeQualified(path)
            parent = self._target.getParent()
        if parent is None:
            raise FileError(f"{target!r} names no folder.", "choose a target below it.")
        begin = f"{parent.toString()}/.{self._target.getName()}.release-"
        self._left = hadoop.Path(_literal(begin) + "[0-9a-f]" * 2 * _RUN_BYTES)
        self._folder = hadoop.Path(begin + os.urandom(_RUN_BYTES).hex())
        self._rows = hadoop.Path(self._folder, _ROWS)
        self._mark = hadoop.Path(self._rows, INSIDE)
        self._owner_only = hadoop.permission.FsPermission(_OWNER_ONLY)

    @property
    def rows(self) -> str:
        """The folder for the rows, which does not exist yet."""
        return str(self._rows.toString())

    @property
    def pattern(self) -> str:
        """The same for readers, which take some characters for patterns."""
        return _literal(self.rows)

    def begin(self) -> int:
        """Make the hidden folder, remove those of killed runs, and return how many these were."""
        with self._file_errors():
            self._check_free()
            left = self._files.globStatus(self._left) or []
            for status in left:
                self._files.delete(status.getPath(), True)
            if not self._files.mkdirs(self._folder, self._owner_only):
                raise FileError(f"{self._name!r} cannot be written.", "choose another target.")
            self._files.setPermission(self._folder, self._owner_only)
            return len(left)

    def publish(self, mark: Mark) -> None:
        """Move the rows to the target, with the mark among them."""
        with self._file_errors():
            stream = self._files.create(self._mark, False)
            stream.write(bytearray((mark.text + "\n").encode()))
            stream.close()
            self._check_free()
            if not self._files.rename(self._rows, self._target):
                raise FileError(f"the rows cannot be given the name {self._name!r}.", "choose another target.")

    def remove(self) -> None:
        """Remove the hidden folder; where that fails, the next run does it."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError):
            self._files.delete(self._folder, True)

    def _check_free(self) -> None:
        if self._files.exists(self._target):
            raise FileError(f"{self._name!r} exists already.", "choose another target, or remove it first.")

    @contextmanager
    def _file_errors(self) -> Iterator[None]:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            why = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
            raise FileError(f"{self._name!r} cannot be written ({why}).", "choose another target.") from None


def _literal(path: str) -> str:
    return _GLOB.sub(r"\\\g<0>", path)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRows(CompactRepr):
    """The rows of a source, named by columns ``key``; ``files_only`` without views, which could repeat rows."""

    frame: Any
    key: tuple[str, ...]
    columns: tuple[str, ...]
    name: str
    files_only: bool = False

    @classmethod
    def of(cls, spark: Any, source: Any, key: str | None) -> SparkRows:
        """Return the rows of a source, named by the column ``key``, or without it by file and position."""
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
            return cls(_add_positions(frame, name), (_FILE, _ROW), columns, name, _is_path(source))
        if key not in columns:
            raise no_column(columns, key, "key", name)
        kind = frame.schema[key].dataType.typeName()
        if kind not in ("string", "byte", "short", "integer", "long", "decimal", "binary", "date"):
            raise InputError(
                f"the column {key!r} is of {kind}, which names no rows.", "use a column of texts or whole numbers."
            )
        return cls(frame, (key,), columns, name)

    def select_columns(self, names: Iterable[str]) -> Any:
        """Return a data frame of some columns, each once."""
        return self.frame.select(*map(_quote_column, dict.fromkeys(names)))

    def check_key(self) -> None:
        """Refuse a key that two rows share or that is missing, as counted by a Spark job."""
        from pyspark.sql import functions

        if self.files_only:
            return  # unique as it is
        columns = [functions.col(_quote_column(name)).alias(f"k{number}") for number, name in enumerate(self.key)]
        nowhere = " or ".join(f"k{number} is null" for number in range(len(columns)))
        duplicates = self.frame.groupBy(*columns).count().where(f"count > 1 or {nowhere}")
        keys, rows = duplicates.agg(functions.count("*"), functions.sum("count")).collect()[0]
        if keys and self.key == (_FILE, _ROW):
            raise InputError(
                f"{rows:,} rows of {self.name} come from a row of a file that another comes from, too.",
                f"name a column that is different in every row with {argument('key', 'id')}.",
            )
        if keys:
            raise DataError(
                f"the column {self.key[0]!r} does not name rows: {rows:,} rows of {self.name} share a value "
                "with another, or have no value.",
                "name a column that is different in every row.",
            )

    def people(self, kernel: Kernel) -> People:
        """Return how many rows there are, and the most reports of one user, as counted by a Spark job."""
        from pyspark.sql import functions

        user = kernel.user
        if user is None or kernel.people == "one":
            return people_without_users(int(self.frame.count()), kernel)
        kind, name = self.frame.schema[user].dataType.typeName(), functions.col(_quote_column(user))
        if kind in ("string", "varchar", "char"):
            names = self.frame.select(name.alias("name")).mapInArrow(_count_names, "name string, n long")
        else:
            if kind in ("float", "double"):
                name = functions.when(~functions.isnan(name), name)
            text = functions.hex(name) if kind == "binary" else name.cast("string")
            names = self.frame.select(text.alias("name"), functions.lit(1).alias("n"))
        unnamed = functions.col("name").isNull()
        groups = names.groupBy("name").agg(functions.sum("n").alias("n")).groupBy(unnamed, "n").count().collect()
        counts = tuple(sorted((int(row[1]), int(row[2])) for row in groups if not row[0]))
        nameless = sum(int(row[1]) * int(row[2]) for row in groups if row[0])
        rows, users = sum(reports * users for reports, users in counts), sum(users for _, users in counts)
        most = (counts[-1][0] if counts else 0) + nameless
        people = People(rows + nameless, most, users or None, nameless=nameless, counts=counts)
        return people.times(kernel.places)


def _count_names(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the names in batches of one column, in one spelling, and their number of rows."""
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


def _add_positions(frame: Any, name: str) -> Any:
    """Return the rows with their file and their position in it, which stay the same while the files do."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions

    try:
        return frame.select("*", *(functions.col(column).alias(alias) for alias, column in _METADATA.items()))
    except AnalysisException:
        raise InputError(
            f"Spark does not say where in its files the rows of {name} are.",
            f"name a column that is different in every row with {argument('key', 'id')}.",
        ) from None


def _quote_column(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PreparedSparkRelease(CompactRepr):
    """A release on Spark before its draw.

    Attributes:
        promises: As of a `PreparedRelease`, like ``people``.
        mark: Fingerprints of the mechanisms.
        frame: The private rows, a data frame that Spark draws when it needs them. Drawn again, rows have the same
            reports until the secret is destroyed. If you write it yourself, rows outside are not counted, and no
            mark is left.
    """

    promises: tuple[str, ...]
    people: People
    mark: Mark
    frame: Any
    _kernel: Kernel
    _secret: RunSecret
    _counts: Callable[[], tuple[int, int, float]]

    def run(self, target: str | os.PathLike[str], *, tell: Callable[[str], object] | None = None) -> Release:
        """Write the private rows as Parquet files, whole or not at all, and destroy the secret.

        ``target`` and `tell` are as for `release_on_spark`; any file system of Spark will do. Rows are written to
        a hidden folder next to the target, which is renamed at the end if their number is the counted one. Raises
        `DataError` if rows are outside, and this is refused, or the source changed meanwhile. Raises `FileError`
        if the target exists, or cannot be written. Raises `InputError` if the secret has been destroyed.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        self._secret.check()
        start_s, say = clock.monotonic(), tell or (lambda _: None)
        folder = SparkTarget(self.frame.sparkSession, os.fspath(target))
        try:
            left = folder.begin()
            drops, moves, farthest_m = self._counts()
            for sentence in self.promises:
                say(sentence)
            self._write(folder, self.people.rows - drops)
        except (Py4JError, PySparkException) as error:
            raise kernel_error(error) from None
        finally:
            self.forget()
            folder.remove()
        notes = [*self._kernel.notes]
        if left:
            notes.append(f"the files of {plural(left, 'interrupted release')} were removed unread")
        tally = Tally(self.people.rows, drops, moves, farthest_m)
        outcome = outcome_of(self._kernel, self.promises, self.mark, tally, clock.monotonic() - start_s, notes)
        say(f"{outcome}. That is {at_most(outcome.rows / max(outcome.seconds, 1e-9), 3)} rows a second.")
        return outcome

    def _write(self, folder: SparkTarget, rows: int) -> None:
        """Draw and write the rows, and publish them if their number is the counted one."""
        writer = self.frame.write.mode("error")
        # The first version of the committer takes no file of a task that failed, even if it failed at its end.
        writer.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(folder.rows)
        count = self.frame.sparkSession.read.parquet(folder.pattern).count()
        if count != rows:
            raise DataError(
                f"{plural(count, 'report')} came from {plural(rows, 'row')}: the source changed meanwhile, "
                "or its plan gives other rows each time. Nothing was published.",
                "write the rows to a table first, and release that.",
            )
        folder.publish(self.mark)

    def forget(self) -> None:
        """Destroy the secret: nothing can be drawn again, and `frame` can no longer be used."""
        self._secret.forget()


def release_on_spark(
    mechanism: Any,
    source: Any,
    target: str | os.PathLike[str],
    *,
    spark: Any = None,
    key: str | None = None,
    allow: float = ALLOWED,
    tell: Callable[[str], object] | None = print,
    **options: Any,
) -> Release:
    """Write Parquet files in which every row of the source is replaced by a private report, on Spark.

    Spark runs tasks again: when a machine fails, or to see which of two is faster. Each row's randomness is
    derived from a secret of this run and the row's name, so a row has one report however often it is drawn.
    Reports are equal in law to those of `sfumato.release` up to the cipher (keyed BLAKE2b). The secret comes from
    the operating system, and is destroyed at the end. Another run is another release, and their guarantees add up.

    The ``source`` is the path of Parquet files, the name of a table, or a data frame of Spark. Rows of Parquet
    files (and of tables made of such) are named by file and position. Others need a ``key``, a column whose values
    are different in every row. The folder ``target`` must not exist. `tell` is called with each sentence on the
    guarantee, before the first draw, and on the outcome.

    Other arguments are those of `sfumato.release`: ``mechanism`` (but no `Blur`: Spark charges no ledger),
    ``allow``, ``column``, ``lat``, ``lon``, ``user``, ``time``, ``keep``, ``also``, ``by``, ``outside``,
    ``within``, ``people``, ``uncertainty``, ``prior``, ``darwin_core``, ``max_reports_per_person`` and
    ``max_epsilon_per_person``. Raises `InputError` if the options do not fit, a guarantee does not hold, or rows
    have no lasting names. Raises `DataError` if the source cannot be read, a key is shared, rows are outside and
    this is refused, or a person exceeds a limit. Raises `FileError` if the target exists, or cannot be written.
    Raises `MissingExtraError` if pyspark is not installed.
    """
    job = prepare_on_spark(mechanism, source, spark=spark, key=key, allow=allow, **options)
    return job.run(target, tell=tell)


@check_arguments
def prepare_on_spark(
    mechanism: Any,
    source: Any,
    *,
    spark: Any = None,
    key: str | None = None,
    allow: float = ALLOWED,
    keep: Sequence[str] = (),
    outside: Outside | None = None,
    max_reports_per_person: int | None = None,
    max_epsilon_per_person: float | str | None = None,
    **options: Any,
) -> PreparedSparkRelease:
    """Return a release on Spark, proved and counted, before anything is drawn; see `release_on_spark`."""
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    refuse_unserved(mechanism, options)
    spark_options: dict[str, Any] = {name: options[name] for name in SPARK_OPTIONS if name in options}
    request = check_options(mechanism, None, outside, allow, {**spark_options, "keep": keep}, lists=True)
    spark = session(spark)
    rows = SparkRows.of(spark, source, key)
    check_table(request.people, rows.name)
    schema = rows.select_columns(rows.columns).limit(0).toArrow().schema
    kernel = Kernel(mechanism, schema, request, name=rows.name)
    promises = {name: report_bounds(drawable) for name, drawable in kernel.drawables.items()}
    rows.check_key()
    census = rows.people(kernel)
    people = replace(census, exact=census.exact and request.outside != "drop")
    limits.check(bounds_of_report(promises, columnwise=kernel.columnwise), people)
    inputs = rows.select_columns([*kernel.needs, *rows.key])
    secret = RunSecret(spark)
    task = (mechanism, schema, request, rows.key, secret.broadcast)
    kind = spark.createDataFrame(spark_schema(kernel.schema).empty_table()).schema

    def counts() -> tuple[int, int, float]:
        """Return how many rows will be dropped and moved, and how far, counted by a Spark job without a draw."""
        if request.outside == "error":
            return 0, 0, 0.0
        sums = inputs.mapInArrow(counting_task(*task), COUNTS).agg(
            {"rows": "sum", "dropped": "sum", "moved": "sum", "farthest_m": "max"}
        )
        total: Mapping[str, Any] = sums.collect()[0].asDict()
        rows, drops, moves = (int(total[f"sum({name})"] or 0) for name in ("rows", "dropped", "moved"))
        if drops + moves > allow * rows:
            raise DataError(
                f"{drops + moves:,} of {rows:,} rows are outside, which is more than {allow:.3%} of them.",
                "check that mechanism and data belong together",
                f"allow more with {argument('allow', 0.05)}.",
            )
        return drops, moves, float(total["max(farthest_m)"] or 0.0)

    return PreparedSparkRelease(
        (*sentences(promises, people, columnwise=kernel.columnwise), *kernel.kept_columns.sentences),
        people,
        Mark.of(kernel.drawables, columnwise=kernel.columnwise),
        inputs.mapInArrow(drawing_task(*task), kind),
        kernel,
        secret,
        counts,
    )
