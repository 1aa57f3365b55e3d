"""The description of the interface, and a client that tries what it allows."""

import json
from importlib.metadata import version
from pathlib import Path

from sfumato_studio.app import schema_text

FILE = Path(__file__).parents[2] / "studio" / "web" / "openapi.json"
WORDED = (0, 165)  # the version of FastAPI since which the description has the same words
DESCRIBED = json.loads(schema_text())


def test_the_file_is_that_of_the_code():
    written = FILE.read_text(encoding="utf-8")
    again = "write it again: uv run python -m sfumato_studio.app studio/web/openapi.json"
    assert names_in(json.loads(written)) == names_in(DESCRIBED), again
    if tuple(int(part) for part in version("fastapi").split(".")[:2]) >= WORDED:
        assert written == schema_text(), again


def names_in(described):
    """Return the routes, their fields and their answers, without the words around them."""
    operations = {
        (path, method, operation["operationId"], *sorted(operation["responses"]))
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    fields = {
        (name, *sorted(schema.get("properties", {})))
        for name, schema in described["components"]["schemas"].items()
    }
    return operations, fields


def test_every_route_says_what_it_does_and_which_errors_it_has():
    for path, methods in DESCRIBED["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            for status in ("403", "404", "409", "413", "422", "429"):
                schema = operation["responses"][status]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}, where


def test_names_of_operations_are_unique():
    names = [each["operationId"] for methods in DESCRIBED["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names))
