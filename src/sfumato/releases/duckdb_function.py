"""Function of columns for DuckDB."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from .._system import pa
from ..core import Prior
from ..errors import InputError, argument, python
from ..geo import Visits
from ..ledgers import Blur
from ..tables import label_column
from .kept_columns.private_schema import plain_type
from .kernel import Kernel
from .options import OUTSIDE, WITHIN, AnyMechanism, Outside, ReleaseOptions, check_uncertainty, drawable_of
from .promises import People, report_bounds, sentences
from .reporters import reporter

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_CALLED: Final = "the columns given"


def create_duckdb_function(
    connection: Any,
    name: str,
    mechanism: AnyMechanism,
    *,
    outside: Outside = "error",
    within: float | str = WITHIN,
    uncertainty: bool = False,
    prior: tuple[str, Prior | Visits] | None = None,
) -> tuple[str, ...]:
    """Register a DuckDB function that draws a fresh report for each row, and return its guarantees in sentences.

    For a mechanism on places the function takes latitudes and longitudes, ``name(lat, lon)``; otherwise one column
    of labels or whole numbers. It returns a structure with the columns of a release (``latitude``, ``longitude``,
    ``label``), or the single column itself.

    Every evaluation is a new draw, and the reports of all draws add up. Store them with ``CREATE TABLE ... AS
    SELECT``: a view draws again for each query. Take fields from an inner query, ``SELECT r.label, r.latitude FROM
    (SELECT name(lat, lon) AS r FROM visits)``: with the function written twice, or in ``unnest``, each row is
    drawn twice. Close the connection before the program ends: a DuckDB thread that outlives Python can abort the
    process.

    A `Blur` is refused: a query cannot charge users. Rows that are outside or have no value are refused
    (``error``), moved to the nearest place (``nearest``), at most by ``within``, or NULL (``drop``), which shows
    who is outside. ``uncertainty`` and ``prior`` add error radii, as in `sfumato.release`. Raises `InputError` if
    the mechanism's guarantee does not hold, or the options do not fit it.
    """
    import duckdb

    connections: Any = duckdb.DuckDBPyConnection
    if not isinstance(connection, connections):
        raise InputError(
            f"a {type(connection).__name__} is not a DuckDB connection.",
            python("pass what duckdb.connect() returns."),
        )
    if isinstance(mechanism, Blur):
        raise InputError(
            "a column function cannot charge users: a query may draw as often as it likes.",
            python("release the relation itself with sf.release(blur, relation)."),
        )
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is not the name of a function.", "use letters, digits and underscores.")
    if outside not in OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", "use error, nearest or drop.")
    drawable = drawable_of(mechanism)
    places = reporter(drawable).input_kind == "places"
    if places:
        source = [("lat", pa.float64()), ("lon", pa.float64())]
        options = ReleaseOptions(
            lat="lat", lon="lon", outside=outside, within=within, uncertainty=uncertainty, prior=prior
        )
    else:
        secrets = drawable.secrets  # None for whole numbers
        source = [("value", pa.int64() if secrets is None else label_column(secrets).type)]
        options = ReleaseOptions(column="value", outside=outside, uncertainty=uncertainty, prior=prior)
    schema = pa.schema(source)
    check_uncertainty(options)
    kernel = Kernel(drawable, schema, options, name=_CALLED)
    # A function gives one value for each row, and leaves none out.
    kernel.drop_hint = f"make the function with {argument('outside', 'drop')}, which gives NULL in such rows"
    promises = sentences({"": report_bounds(drawable)}, People(0))
    plain = pa.schema([(field.name, plain_type(field.type)) for field in kernel.schema])
    types = connection.from_arrow(plain.empty_table()).types
    single = len(plain) == 1
    return_type = types[0] if single else connection.struct_type(dict(zip(plain.names, types, strict=True)))

    def draw(*columns: Any) -> Any:
        arrays = [
            (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).cast(kind.type)
            for column, kind in zip(columns, schema, strict=True)
        ]
        batch = pa.record_batch(arrays, schema=schema)
        private = kernel.release(batch)
        rows = private.rows if private.rows is not None else np.arange(batch.num_rows)
        private_columns = [
            column.cast(field.type) for column, field in zip(private.batch.columns, plain, strict=True)
        ]
        whole = private_columns[0] if single else pa.StructArray.from_arrays(private_columns, fields=list(plain))
        if len(rows) == batch.num_rows:
            return whole
        where = np.full(batch.num_rows, -1)
        where[rows] = np.arange(len(rows))
        return whole.take(pa.array(where, mask=where < 0))

    try:
        connection.create_function(
            name,
            (lambda lat, lon: draw(lat, lon)) if places else (lambda value: draw(value)),  # it counts them
            connection.from_arrow(schema.empty_table()).types,
            return_type,
            type="arrow",
            null_handling="special",
            side_effects=True,  # so that no draw is kept for the next row, nor for another place in the query
        )
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB made no function {name!r}: {str(error).splitlines()[0]}.",
            python(f"for a new one of this name, call connection.remove_function({name!r}) first."),
        ) from None
    return promises
