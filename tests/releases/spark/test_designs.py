"""The executor for Spark on the page about a mechanism for each person: it makes the same designs."""

import pytest

from sfumato.files.many import design_each_user
from tests.files.test_many import many
from tests.files.test_many_executors import CITY
from tests.test_docs_designs import BLOCKS


def test_the_executor_of_the_page(tmp_path, spark):
    known: dict[str, object] = {}
    exec(compile(BLOCKS[1], "page", "exec"), known)
    alone = many(tmp_path / "alone", 5)
    with known["SparkExecutor"](spark, 3) as pool:  # type: ignore[operator]
        found = many(tmp_path / "spark", 5, executor=pool, in_flight=3)
        users = design_each_user(
            CITY, tmp_path / "users", epsilon="1/km", spacing="4 km", least_visits=5, executor=pool, time_limit=600
        )
    assert found.is_finished
    for name, row in found.rows.items():
        assert row.loss == pytest.approx(alone.rows[name].loss, rel=1e-4)
        assert row.request == alone.rows[name].request
    assert users.is_finished
