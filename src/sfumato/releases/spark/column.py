"""Private columns for Spark pipelines: a function from columns to a column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from ..._system import pa
from ...errors import InputError, argument
from ..kernel import Kernel
from ..options import WITHIN, ReleaseOptions, columns_of
from ..promises import People, report_bounds, sentences
from ..reporters import reporter
from .tasks import RunSecret, check_columns, column_task, refuse_unserved, session, spark_schema

_PLACES: Final = ("lat", "lon")
_LABEL: Final = "answer"


class PrivateColumn:
    """Makes a column of reports from columns of true values, for pipelines of Spark data frames.

    Two people may stand at one place, so values cannot identify a row. The function takes a key, a column that is
    different in every row. A row with the same key and true value has the same report however often Spark draws
    it: in another action, plan, call or in SQL. The key names the row, never the person: two rows with one key and
    one value have one report, which shows that the values are equal. Spark passes one batch at a time, so such
    rows are refused only within a batch.

    One `PrivateColumn` is one release with one secret: a key must name the same row in all its uses. Another
    `PrivateColumn` is another release, and their guarantees add up. Spark keeps the secret until `forget`.

    Args:
        mechanism: A mechanism, tupling, noise for coordinates or family.
        outside: Whether rows outside are refused (``error``) or moved to the nearest place.
        within: Largest distance by which a row is moved; a row farther away is an error.
        spark: The session; by default the active one.

    Attributes:
        promises: Sentences on the guarantee of one report, and the total of several of one person.

    Raises:
        InputError: If the guarantee does not hold, or the mechanism cannot be released from.
        MissingExtraError: If pyspark is not installed.

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
        if reporter(mechanism).input_kind == "places":
            self._names: tuple[str, ...] = _PLACES
            self._options = ReleaseOptions(lat="lat", lon="lon", outside=outside, within=within)
        else:
            self._options = ReleaseOptions(
                column=columns_of(mechanism, None) or _LABEL, outside=outside, within=within
            )
            self._names = self._options.named
        kind = pa.float64() if self._names == _PLACES else pa.string()
        kernel = Kernel(
            mechanism, pa.schema([(name, kind) for name in self._names]), self._options, name="the columns"
        )
        table = spark_schema(kernel.schema).empty_table()
        self._kind = self._spark.createDataFrame(table).schema
        self._secret = RunSecret(self._spark)

    def __call__(self, key: Any, *secret: Any) -> Any:
        """Return a column of reports, a struct with the columns that `sfumato.release` writes.

        ``key`` is the column that is different in every row, or its name; ``secret`` are the columns of latitude
        and longitude, or those of labels or numbers.

        Raises:
            InputError: If the number of columns is wrong, or the secret has been destroyed.
        """
        check_columns(len(secret), self._names)
        return self._function()(key, *secret)

    def register(self, name: str) -> None:
        """Register this as the Spark SQL function ``name`` of the session; it takes the same columns.

        Raises:
            InputError: If the secret has been destroyed.
        """
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
