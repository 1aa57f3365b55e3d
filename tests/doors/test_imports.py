"""Modules that importing, the help and the first report load."""

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

BLUR = HEAVY - {"scipy", "flint"}  # a file is proved when it is loaded
VECTORS = Path(__file__).parents[1] / "files" / "vectors"

PROBE = """
import json, sys
{action}
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

IMPORT = "import sfumato"
FIRST_BLUR = f"""
import sfumato
sfumato.sampler(sfumato.load({str(VECTORS / "{name}.sfm")!r})).blur(48.86, 2.34)
"""
HELP = """
sys.argv = ["sfumato", "--help"]
from sfumato.cli import main
try:
    main()
except SystemExit:
    pass
"""


def probe(action: str) -> list[str]:
    """Return the modules that a fresh interpreter has loaded after an action."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(action=action)], capture_output=True, text=True, check=True
    )
    modules: list[str] = json.loads(done.stderr.splitlines()[-1])
    return modules


def packages(modules: list[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize(
    ("action", "most", "absent"),
    [
        (IMPORT, 100, HEAVY),
        (HELP, 400, HEAVY),
        (FIRST_BLUR.format(name="grid"), 1150, BLUR),
        (FIRST_BLUR.format(name="noise"), 1150, BLUR),
    ],
    ids=["import sfumato", "sfumato --help", "first blur by a matrix", "first blur by noise"],
)
def test_fast_and_light(action, most, absent):
    """Few modules are loaded, and no heavy package."""
    modules = probe(action)
    assert len(modules) <= most
    assert not packages(modules) & (EXTRAS | absent)


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
    modules = packages(probe(action))
    assert not modules & EXTRAS
