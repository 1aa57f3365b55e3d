"""Tasks of Spark, private columns, the session and the secret of a run: a row drawn again has the same report."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..._system import pa, pc
from ...errors import DataError, InputError, MissingExtraError, SfumatoError, argument, python
from ...ledgers import Blur
from ...sampling import SECRET_BYTES, KeyedWords, SystemWords, UnevenWordsError
from ..kernel import Kernel, LocatedBatch, PrivateBatch
from ..options import OPTIONS, WITHIN, ReleaseOptions, columns_of
from ..promises import EPSILON, REPORTS, People, report_bounds, sentences
from ..reporters import BLOCK, reporter

_KEY: Final = "_sfumato_key"
_LABEL: Final = "answer"
COUNTS: Final = "rows long, dropped long, moved long, farthest_m double"
"""The columns of `counting_task`, as Spark writes them."""

TASK_ERROR: Final = re.compile(r"sfumato error as JSON: (\[.*\])")
"""An error of a task, which reaches the driver as text only: its problem and hint in one line of JSON."""

Task = Callable[[Iterable[Any]], Iterator[Any]]
_PLACE: Final = b"sfumato place"
_REPORT: Final = b"sfumato report"
_UNSERVED: Final = {
    "resume": "a stopped release on Spark leaves nothing to continue: it starts again",
    "again": "a release on Spark keeps no record of the sources that were released",
    "place_column": "places are stored in a database, which Spark tasks do not use",
    "skip_damaged": "Spark reads only tables",
    "receipt": "a release on Spark writes no receipt",
    "progress": "Spark shows its own progress",
}

SPARK_OPTIONS: Final = tuple(name for name in OPTIONS if name not in ("keep", *_UNSERVED))
"""The arguments of `sfumato.release` that are passed on as they are."""


def with_errors(task: Task) -> Task:
    """Return a task whose `SfumatoError`s carry their problem and hint to the driver, as `TASK_ERROR`."""

    def run_task(batches: Iterable[Any]) -> Iterator[Any]:
        try:
            yield from task(batches)
        except SfumatoError as error:
            data = json.dumps([error.problem, error.hint])  # without values of rows
            raise RuntimeError(f"{error}\nsfumato error as JSON: {data}") from None

    return run_task


def spark_type(kind: Any) -> Any:
    """Return the nearest Arrow type that Spark takes: no dictionaries, large or unsigned types."""
    types = pa.types
    if types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if types.is_large_string(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_unsigned_integer(kind):
        return pa.int64()
    if types.is_list(kind) or types.is_large_list(kind):
        return pa.list_(spark_type(kind.value_type))
    return kind


def spark_schema(schema: Any) -> Any:
    """Return an Arrow schema in the types that Spark takes."""
    return pa.schema([(field.name, spark_type(field.type)) for field in schema])


def spark_batch(batch: Any, schema: Any) -> Any:
    """Return a batch in the types of `spark_schema`."""
    arrays = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def drawing_task(
    mechanisms: Any, schema: Any, options: ReleaseOptions, key: tuple[str, ...], broadcast: Any
) -> Task:
    """Return a function for ``DataFrame.mapInArrow`` from true rows to private ones."""

    def draw_batches(batches: Iterable[Any]) -> Iterator[Any]:
        kernel = Kernel(mechanisms, schema, options)
        draw, kinds = KeyedDraw(kernel, broadcast.value, key), spark_schema(kernel.schema)
        for batch in batches:
            yield spark_batch(draw.release(batch).batch, kinds)

    return with_errors(draw_batches)


def counting_task(
    mechanisms: Any, schema: Any, options: ReleaseOptions, key: tuple[str, ...], broadcast: Any
) -> Task:
    """Return a function for ``DataFrame.mapInArrow`` that counts what `drawing_task` will drop and move."""

    def count_batches(batches: Iterable[Any]) -> Iterator[Any]:
        names = ("rows", "dropped", "moved")
        draw = KeyedDraw(Kernel(mechanisms, schema, options), broadcast.value, key)
        for batch in batches:
            *counts, farthest_m = draw.survey(batch)
            columns = {name: pa.array([count], pa.int64()) for name, count in zip(names, counts, strict=True)}
            yield pa.RecordBatch.from_pydict({**columns, "farthest_m": pa.array([farthest_m], pa.float64())})

    return with_errors(count_batches)


def column_task(mechanism: Any, options: ReleaseOptions, names: tuple[str, ...], broadcast: Any) -> Task:
    """Return a function from arrays (a key and the columns of the secret) to an array of reports, for columns."""

    def private(batches: Iterable[Any]) -> Iterator[Any]:
        draw = kinds = None
        for arrays in batches:
            columns = list(arrays) if isinstance(arrays, tuple) else [arrays]
            check_columns(len(columns) - 1, names)
            batch = pa.RecordBatch.from_arrays(columns, names=[_KEY, *names])
            if draw is None:
                kernel = Kernel(mechanism, batch.schema, options, name="the columns")
                kernel.drop_hint = "leave such rows out of the query"  # a column gives one value for each row
                draw, kinds = KeyedDraw(kernel, broadcast.value, (_KEY,)), spark_schema(kernel.schema)
            reports = spark_batch(draw.release(batch).batch, kinds)
            yield pa.StructArray.from_arrays(reports.columns, fields=list(reports.schema))

    return with_errors(private)


def check_columns(count: int, names: tuple[str, ...]) -> None:
    """Refuse a wrong number of columns of true values."""
    if count != len(names):
        raise InputError(
            f"{count} columns of true values were given, but {len(names)} are needed.",
            f"pass the key first, and then the columns of {' and '.join(names)}.",
        )


class KeyedDraw:
    """Draws private batches: words depend on a secret of 32 bytes and the key and true values of a row alone."""

    def __init__(self, kernel: Kernel, secret: bytes, key: tuple[str, ...]) -> None:
        self._kernel, self._secret, self._key = kernel, secret, key

    def release(self, batch: Any) -> PrivateBatch:
        """Return the private rows of a batch; two rows with one key are a `DataError`."""
        parts, rows = [], []
        for members, located, keys in self._locate_blocks(batch):
            parts.append(self._kernel.assemble(located, self._draw(located, keys)))
            rows.append(members[located.rows])
        if not parts:
            return PrivateBatch(pa.RecordBatch.from_pylist([], schema=self._kernel.schema), 0, 0, 0.0)
        whole = pa.Table.from_batches([part.batch for part in parts]).combine_chunks()
        order = np.argsort(np.concatenate(rows), kind="stable")
        batches = whole.to_batches()
        return PrivateBatch(
            batches[0].take(pa.array(order)) if batches else parts[0].batch,
            sum(part.dropped for part in parts),
            sum(part.moved for part in parts),
            max(part.farthest_m for part in parts),
        )

    def survey(self, batch: Any) -> tuple[int, int, int, float]:
        """Return the numbers of rows, of dropped and of moved ones, and how far; no report is drawn."""
        parts = [located for _, located, _ in self._locate_blocks(batch)]
        drops, moves = sum(part.dropped for part in parts), sum(part.moved for part in parts)
        return batch.num_rows, drops, moves, max((part.farthest_m for part in parts), default=0.0)

    def _locate_blocks(self, batch: Any) -> Iterator[tuple[NDArray[np.intp], LocatedBatch, list[bytes]]]:
        """Yield rows of one mechanism, at most a block of them, with their keys."""
        names = row_names([_naming(batch.column(name)) for name in self._key])
        if len(set(names)) < len(names):
            raise DataError(
                "two rows have the same key, so one report would be drawn for both.",
                "name a column that is different in every row.",
            )
        values = row_names([batch.column(name) for name in self._kernel.drawn_from])
        for group in self._kernel.groups(batch):
            for at in range(0, len(group), BLOCK):
                members = group[at : at + BLOCK]
                keys = [names[row] + values[row] for row in members.tolist()]
                part = batch.take(pa.array(members))
                yield members, self._kernel.locate_or_refuse(part, KeyedWords(self._secret, keys, _PLACE)), keys

    def _draw(self, located: LocatedBatch, keys: list[bytes]) -> list[tuple[Any, NDArray[np.intp], NDArray[Any]]]:
        row_keys = [keys[row] for row in located.rows.tolist()]
        if not row_keys:
            return self._kernel.draw(located, SystemWords())  # no reports
        if self._kernel.rowwise:
            try:
                return self._kernel.draw(located, KeyedWords(self._secret, row_keys, _REPORT))
            except UnevenWordsError:  # a tie, which takes a second word: once in 2**60 rows
                pass
        draws = []
        for row, key in enumerate(row_keys):
            draws += self._kernel.draw(located, KeyedWords(self._secret, [key], _REPORT), np.array([row]))
        reports = np.concatenate([reports for _, _, reports in draws], axis=1)
        return [(draws[0][0], np.arange(len(row_keys)), reports)]


def _naming(column: Any) -> Any:
    """Return a column of a key, which must hold a name for each row."""
    if pa.types.is_floating(column.type):
        raise DataError(f"a key of {column.type} names no rows.", "use a column of texts or whole numbers.")
    if column.null_count:
        raise DataError("a row has no key.", "name a column that is different in every row, and nowhere missing.")
    return column


def row_names(columns: list[Any]) -> list[bytes]:
    """Return bytes for each row of Arrow columns (n,), different for rows that differ."""
    parts = [_encode_values(column) for column in columns]
    return [b"".join(row) for row in zip(*parts, strict=True)]


def _encode_values(column: Any) -> list[bytes]:
    """Return each value with its kind and length, so that different lists of values have different bytes."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_nested(kind):
        raise DataError(f"a column of {kind} does not name rows.", "name one of texts or numbers.")
    if types.is_floating(kind) or (types.is_integer(kind) and kind != pa.uint64()) or types.is_boolean(kind):
        wide = pa.float64() if types.is_floating(kind) else pa.int64()
        known = pc.is_valid(column).to_pylist()
        raw = pc.fill_null(column.cast(wide), 0).to_numpy(zero_copy_only=False)
        data, tag = raw.astype(raw.dtype.newbyteorder("<")).tobytes(), b"f" if types.is_floating(kind) else b"i"
        return [tag + data[8 * at : 8 * at + 8] if is_valid else b"-" for at, is_valid in enumerate(known)]
    if types.is_timestamp(kind):
        return _encode_values(column.cast(pa.int64()))
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    texts = (column if binary else column.cast(pa.string()).cast(pa.binary())).to_pylist()
    return [b"-" if text is None else b"s" + len(text).to_bytes(8, "little") + text for text in texts]


class RunSecret:
    """256 bits from the operating system, as a broadcast variable of Spark.

    Functions refer to it by number, so plans, event logs and the driver's commands do not show the bytes.
    """

    def __init__(self, spark: Any) -> None:
        self.broadcast: Any = spark.sparkContext.broadcast(os.urandom(SECRET_BYTES))  # None once destroyed

    def check(self) -> None:
        """Refuse to go on if the secret has been destroyed."""
        if self.broadcast is None:
            raise InputError(
                "the secret of this release has been destroyed, so its reports cannot be drawn again.",
                "read what was written; another release adds up with it.",
            )

    def forget(self) -> None:
        """Remove the secret from the driver and all executors: nothing can be drawn again."""
        from py4j.protocol import Py4JError

        if self.broadcast is not None:
            with suppress(Py4JError):  # the session was stopped, and its executors with it
                self.broadcast.destroy(blocking=True)
            self.broadcast = None

    def __repr__(self) -> str:
        return f"RunSecret: {'destroyed' if self.broadcast is None else 'not shown'}"


def session(spark: Any = None) -> Any:
    """Return the given session of Spark or the active one, but none of Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("a release on Spark", "spark") from None
    active = spark or SparkSession.getActiveSession()
    if active is None:
        raise InputError("no Spark session is active.", f"pass one with {argument('spark')}.")
    if not isinstance(active, SparkSession) or not hasattr(active, "_jsparkSession"):
        raise InputError(
            f"a release needs a session of Spark itself, but a value of {type(active)} was given: over Spark "
            "Connect no secret can be kept from the plan.",
            "run it where the driver runs.",
        )
    return active


def kernel_error(error: Exception) -> Exception:
    """Return the error of the kernel that made a task fail, or the error of Spark itself."""
    data = TASK_ERROR.search(str(error))
    if data is None:
        return error
    problem, hint = json.loads(data[1])
    return DataError(f"in a batch of Spark, {problem}", hint)


def refuse_unserved(mechanism: Any, options: Mapping[str, Any]) -> None:
    """Refuse a ledger, and arguments of `sfumato.release` that a release on Spark does not have."""
    mechanisms = mechanism.values() if isinstance(mechanism, Mapping) else (mechanism,)
    if any(isinstance(drawable, Blur) for drawable in mechanisms):
        raise InputError(
            "tasks of Spark charge no ledger, so a Blur cannot be released from there.",
            python("release the file with sfumato.release, which charges it"),
            python("pass blur.mechanism, and manage the budget yourself."),
        )
    for name, value in options.items():
        if name in SPARK_OPTIONS:
            continue
        if name not in _UNSERVED:
            raise InputError(
                f"a release has no argument {name!r}.",
                f"use {', '.join(SPARK_OPTIONS)}, keep, outside, allow, {REPORTS}, {EPSILON} and key.",
            )
        if value:
            raise InputError(f"{_UNSERVED[name]}.", f"leave out {argument(name)}.")


class PrivateColumn:
    """Makes a column of reports from columns of true values, for pipelines of Spark data frames.

    Two people may stand at one place, so values cannot identify a row. The function takes a key, a column that is
    different in every row. A row with the same key and true value has the same report however often Spark draws
    it: in another action, plan, call or in SQL. The key names the row, never the person: two rows with one key and
    one value have one report, which shows that the values are equal. Spark passes one batch at a time, so such
    rows are refused only within a batch.

    One `PrivateColumn` is one release with one secret: a key must name the same row in all its uses. Another
    `PrivateColumn` is another release, and their guarantees add up. Spark keeps the secret until `forget`. Raises
    `InputError` if the guarantee does not hold, or the mechanism cannot be released from. Raises
    `MissingExtraError` if pyspark is not installed. Rows outside are refused (``error``) or moved to the nearest
    place (``nearest``), at most by ``within``. The session is by default the active one. ``promises`` are
    sentences on the guarantee of one report, and the total of several of one person.

    Example:
        ``blur = PrivateColumn(mech)``, and then ``visits.select("id", blur("id", "lat", "lon").alias("out"))``,
        or ``blur.register("blur")`` and ``spark.sql("SELECT id, blur(id, lat, lon) AS private FROM visits")``.
    """

    def __init__(
        self,
        mechanism: Any,
        *,
        outside: Literal["error", "nearest"] = "error",
        within: float | str = WITHIN,
        spark: Any = None,
    ) -> None:
        if outside not in ("error", "nearest"):
            raise InputError(f"{argument('outside', outside)} is unknown.", "use one of error, nearest.")
        refuse_unserved(mechanism, {})
        self._spark = session(spark)
        self._mechanism = mechanism
        self.promises = sentences({"": report_bounds(mechanism)}, People(0))
        of_places = reporter(mechanism).input_kind == "places"
        roles: Any = (
            {"lat": "lat", "lon": "lon"} if of_places else {"column": columns_of(mechanism, None) or _LABEL}
        )
        self._options = ReleaseOptions(**roles, outside=outside, within=within)
        self._names = ("lat", "lon") if of_places else self._options.columns
        schema = pa.schema([(name, pa.float64() if of_places else pa.string()) for name in self._names])
        kernel = Kernel(mechanism, schema, self._options, name="the columns")
        table = spark_schema(kernel.schema).empty_table()
        self._kind = self._spark.createDataFrame(table).schema
        self._secret = RunSecret(self._spark)

    def __call__(self, key: Any, *secret: Any) -> Any:
        """Return a column of reports, as `sfumato.release` writes them, from columns of a key and true values."""
        check_columns(len(secret), self._names)
        return self._function()(key, *secret)

    def register(self, name: str) -> None:
        """Register this as the Spark SQL function ``name`` of the session; it takes the same columns."""
        self._spark.udf.register(name, self._function())

    def forget(self) -> None:
        """Destroy the secret. Write what was drawn first: nothing can be drawn again."""
        self._secret.forget()

    def _function(self) -> Any:
        from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf

        self._secret.check()
        task = column_task(self._mechanism, self._options, self._names, self._secret.broadcast)
        # Spark knows a function's input and output by its annotations.
        task.__annotations__ = {"batches": Iterator[tuple[pa.Array, ...]], "return": Iterator[pa.Array]}
        return arrow_udf(task, self._kind, ArrowUDFType.SCALAR_ITER)
