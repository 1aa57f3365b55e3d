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
EXTRAS |= {"sqlalchemy", "pyproj", "highspy", "clarabel"}
EXTRAS |= {"pandas", "geopandas", "polars", "duckdb", "shapely", "sfumato_papers", "sfumato_studio"}
HEAVY = {"scipy", "pyarrow", "flint", "rich"}

VECTORS = Path(__file__).parents[1] / "files" / "vectors"

ROOT = Path(sf.__file__).parent
STUBS = sorted(ROOT.rglob("__init__.pyi"))
ROOMS = [".".join(each.parent.relative_to(ROOT.parent).parts) for each in STUBS]

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
FIRST_DRAW = f"""
import sfumato
sfumato.sampler(sfumato.load({str(VECTORS / "square.sfm")!r})).draw([0])
"""
RELEASE = f"""
import pyarrow, sfumato
grid = sfumato.load({str(VECTORS / "grid.sfm")!r})
points = pyarrow.table({{"lat": [48.86, 48.861], "lon": [2.34, 2.341], "kind": ["bus", "walk"]}})
sfumato.release(grid, points, keep=["kind"])
"""
DESIGN = """
import sfumato
prior = sfumato.Prior.uniform(sfumato.Space(range(3), [(0, 0), (1, 0), (3, 1)], "km"))
distance = prior.space.metric("euclidean")
sfumato.design(prior, loss=distance, guarantees=[sfumato.MetricPrivacy(1.0, distance)])
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


def ours(modules: list[str]) -> list[str]:
    """Return those of the package: the numbers of others depend on their versions."""
    return [name for name in modules if name.partition(".")[0] == "sfumato"]


def packages(modules: list[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize(
    ("action", "most", "own", "absent"),
    [
        (IMPORT, 80, 1, HEAVY),
        (HELP, 230, 36, HEAVY),
        (FIRST_BLUR.format(name="grid"), 290, 49, HEAVY),
        (FIRST_DRAW, 290, 50, HEAVY),
        (FIRST_BLUR.format(name="noise"), 300, 61, HEAVY),
    ],
    ids=[
        "import sfumato",
        "sfumato --help",
        "first blur by a grid",
        "first draw by a lattice",
        "first blur by noise",
    ],
)
def test_fast_and_light(action, most, own, absent):
    """Few modules are loaded, no heavy package, and no solver."""
    modules = probe(action)
    assert len(modules) <= most
    assert len(ours(modules)) <= own
    assert not packages(modules) & (EXTRAS | absent)
    assert not [name for name in modules if name.startswith("sfumato.optimal")]


@pytest.mark.parametrize("stub", STUBS, ids=ROOMS)
def test_public_names_resolve(stub):
    """They are those of the stub, and none is hidden by a module of the same name."""
    room = importlib.import_module(ROOMS[STUBS.index(stub)])
    for name in {each.stem for each in stub.parent.iterdir()} & set(dir(room)):
        importlib.import_module(f"{room.__name__}.{name}")
    imports = [each for each in ast.parse(stub.read_text()).body if isinstance(each, ast.ImportFrom)]
    listed = {alias.name: each.module for each in imports for alias in each.names}
    assert sorted(listed) == dir(room)
    for name, module in listed.items():
        home = importlib.import_module(f"{room.__name__}.{module}" if module else f"{room.__name__}.{name}")
        assert getattr(room, name) is (getattr(home, name) if module else home)
    # Type checkers take a name in a stub for public if it is imported as itself.
    assert all(alias.asname == alias.name for each in imports for alias in each.names)
    with pytest.raises(AttributeError, match="desing"):
        getattr(room, "desing")  # noqa: B009 - type checkers know that there is none


@pytest.mark.parametrize("action", [RELEASE, DESIGN], ids=["release", "design"])
def test_the_main_jobs_import_no_extra(action):
    assert not packages(probe(action)) & EXTRAS - {"pandas"}  # pyarrow imports pandas where it is installed


def test_the_whole_package_imports_no_extra():
    action = "import sfumato\nfor name in dir(sfumato): getattr(sfumato, name)"
    modules = packages(probe(action))
    assert not modules & EXTRAS
