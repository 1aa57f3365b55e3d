"""Costs of importing: time, and the modules that come with it."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf

EXTRAS = {"matplotlib", "h3", "torch", "sklearn", "pyspark", "fastapi", "ot", "opendp", "dp_accounting", "qif"}
EXTRAS |= {"pandas", "geopandas", "polars", "duckdb", "shapely"}
HEAVY = {"scipy", "sqlalchemy", "pyarrow", "pyproj", "highspy", "clarabel", "flint", "rich"}

PROBE = """
import json, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF)
{action}
after = resource.getrusage(resource.RUSAGE_SELF)
spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps([spent, sorted({{name.split(".")[0] for name in sys.modules}})]), file=sys.stderr)
"""

IMPORT = "import sfumato"
HELP = """
sys.argv = ["sfumato", "--help"]
from sfumato.cli import main
try:
    main()
except SystemExit:
    pass
"""


def probe(action: str, times: int = 3) -> tuple[float, set[str]]:
    """Return the processor seconds of an action in a fresh interpreter, the least of so many, and its modules."""
    found = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(action=action)], capture_output=True, text=True, check=True
        )
        seconds, modules = json.loads(done.stderr.splitlines()[-1])
        found.append((seconds, set(modules)))
    return min(found, key=lambda pair: pair[0])


@pytest.mark.parametrize("action", [IMPORT, HELP], ids=["import sfumato", "sfumato --help"])
def test_fast_and_light(action):
    seconds, modules = probe(action)
    assert seconds < 0.3
    assert not modules & (EXTRAS | HEAVY)


def test_public_names_resolve():
    stub = Path(sf.__file__).with_suffix(".pyi")
    imports = [each for each in ast.parse(stub.read_text()).body if isinstance(each, ast.ImportFrom)]
    listed = {alias.name: each.module for each in imports for alias in each.names}
    assert sorted(listed) == dir(sf)
    for name, module in listed.items():
        home = importlib.import_module(f"sfumato.{module}" if module else "sfumato")
        assert getattr(sf, name) is getattr(home, name)
    # Type checkers take a name in a stub for public if it is imported as itself.
    assert all(alias.asname == alias.name for each in imports for alias in each.names)
    with pytest.raises(AttributeError, match="desing"):
        getattr(sf, "desing")  # noqa: B009 - type checkers know that there is none


def test_the_whole_package_imports_no_extra():
    action = "import sfumato\nfor name in dir(sfumato): getattr(sfumato, name)"
    _, modules = probe(action, times=1)
    assert not modules & EXTRAS


def imported(root: Path) -> dict[str, set[str]]:
    """Return which files each file of a package imports, type checkers' imports included, by module name."""
    files = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found = {}
    for name, path in files.items():
        package = (name if path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
        seen = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                seen |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                names = {f"{base}.{each.name}" for each in node.names}
                seen |= {each if each in files else base for each in names}
        found[name] = seen & set(files) - {name}
    return found


def test_no_files_import_each_other():
    graph = imported(Path(sf.__file__).parent)
    assert len(graph) > 200
    while leaves := {name for name, uses in graph.items() if not uses & set(graph)}:
        graph = {name: uses for name, uses in graph.items() if name not in leaves}
    assert not graph, f"in a circle, or above one: {sorted(graph)}"
