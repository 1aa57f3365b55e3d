"""Columns of reports in the types that Spark takes from Arrow."""

from __future__ import annotations

from typing import Any


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
