"""Functions that run in the tasks of Spark: each makes the kernel anew, and draws with the secret of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ...errors import DataError, InputError, argument
from ..kernel import Kernel, Wishes
from ..keyed import KeyedDraw

_KEY: Final = "_sfumato_key"
COUNTS: Final = "rows long, dropped long, moved long, farthest_m double"
"""The columns of `counting`, as Spark writes them."""


def spark_type(kind: Any) -> Any:
    """Return the Arrow type in which Spark takes values of another: no dictionaries, large or unsigned types."""
    import pyarrow as pa

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
    """Return the Arrow schema in which Spark takes batches of another."""
    import pyarrow as pa

    return pa.schema([(field.name, spark_type(field.type)) for field in schema])


def spark_batch(batch: Any, schema: Any) -> Any:
    """Return a batch in the types of `spark_schema`."""
    import pyarrow as pa

    arrays = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


Task = Callable[[Iterable[Any]], Iterator[Any]]


def drawing(mechanisms: Any, schema: Any, wishes: Wishes, key: tuple[str, ...], broadcast: Any) -> Task:
    """Return a function for ``DataFrame.mapInArrow`` from true rows to private ones.

    Args:
        mechanisms: The mechanism, or several by name.
        schema: The Arrow schema of the true rows.
        wishes: What the caller asks for.
        key: The columns that name a row.
        broadcast: The secret, as a broadcast variable.
    """

    def drawn(batches: Iterable[Any]) -> Iterator[Any]:
        kernel = Kernel(mechanisms, schema, wishes)
        draw, given = KeyedDraw(kernel, broadcast.value, key), spark_schema(kernel.schema)
        for batch in batches:
            yield spark_batch(draw.release(batch).batch, given)

    return drawn


def counting(mechanisms: Any, schema: Any, wishes: Wishes, key: tuple[str, ...], broadcast: Any) -> Task:
    """Return a function for ``DataFrame.mapInArrow`` that counts what `drawing` will drop and move; see there."""

    def counted(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        draw = KeyedDraw(Kernel(mechanisms, schema, wishes), broadcast.value, key)
        for batch in batches:
            found = draw.surveyed(batch)
            columns = dict(zip(("rows", "dropped", "moved"), map(_one, found[:3]), strict=True))
            yield pa.RecordBatch.from_pydict({**columns, "farthest_m": pa.array([found[3]], pa.float64())})

    def _one(count: int) -> Any:
        import pyarrow as pa

        return pa.array([count], pa.int64())

    return counted


def converting(mechanism: Any, wishes: Wishes, names: tuple[str, ...], broadcast: Any) -> Task:
    """Return a function from arrays (a key and the columns of the secret) to an array of reports, for columns.

    Args:
        mechanism: The mechanism.
        wishes: What the caller asks for.
        names: What the columns of the secret are called.
        broadcast: The secret, as a broadcast variable.
    """

    def private(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        draw = given = None
        for arrays in batches:
            columns = list(arrays) if isinstance(arrays, tuple) else [arrays]
            check_columns(len(columns) - 1, names)
            batch = pa.RecordBatch.from_arrays(columns, names=[_KEY, *names])
            if draw is None:
                kernel = Kernel(mechanism, batch.schema, wishes, name="the columns")
                draw, given = KeyedDraw(kernel, broadcast.value, (_KEY,)), spark_schema(kernel.schema)
            found = spark_batch(_in_place(draw, batch), given)
            yield pa.StructArray.from_arrays(found.columns, fields=list(found.schema))

    return private


def check_columns(given: int, names: tuple[str, ...]) -> None:
    """Refuse another number of columns of true values.

    Args:
        given: How many were given.
        names: What those that are needed are called.

    Raises:
        InputError: If it is another number.
    """
    if given != len(names):
        raise InputError(
            f"{given} columns of true values were given, but {len(names)} are needed.",
            f"pass the key first, and then the columns of {' and '.join(names)}.",
        )


def _in_place(draw: KeyedDraw, batch: Any) -> Any:
    """Return the private rows of a batch, as many as came in; a column cannot leave rows out."""
    try:
        return draw.release(batch).batch
    except DataError as error:
        drop = argument("outside", "drop")
        hints = ["leave such rows out of the query" if drop in hint else hint for hint in error.hints]
        raise DataError(error.text, *hints) from None
