"""What importing costs, and what it pulls in."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf

EXTRAS = {"matplotlib", "h3", "torch", "sklearn", "pyspark", "fastapi", "ot", "opendp", "dp_accounting", "qif"}
HEAVY = {"scipy", "pyarrow", "pyproj", "highspy", "clarabel", "flint", "rich"}

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
    for name in sf.__all__:
        assert getattr(sf, name) is not None
    assert set(sf.__all__) <= set(dir(sf))
    with pytest.raises(AttributeError, match="no attribute 'desing'"):
        sf.desing  # noqa: B018


def test_the_whole_package_imports_no_extra():
    action = "import importlib, sfumato\nfor name in sfumato._HOMES: getattr(sfumato, name)"
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
