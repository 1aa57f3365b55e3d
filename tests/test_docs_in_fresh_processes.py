"""Names that documents and docstrings write as `sf.X.Y` exist where only sfumato was imported."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [
    *(ROOT / "README.md", ROOT / "CHANGELOG.md"),
    *(
        path
        for folder in ("docs", "examples", "papers", "src", "studio/src")
        for path in sorted((ROOT / folder).rglob("*.*"))
    ),
]
# For each package `sf.X` a fresh import: what one name loads must not hide that another one needs it.
RESOLVE = """
import json, sys, types
missing, fresh = [], None
for name in json.load(sys.stdin):
    _, first, *rest = name.split(".")
    if rest and first.islower() and first != fresh:
        fresh = first
        for loaded in [each for each in sys.modules if each.partition(".")[0] == "sfumato"]:
            del sys.modules[loaded]
    import sfumato as value
    try:
        for part in (first, *rest):
            value = getattr(value, part)
    except AttributeError as error:
        missing.append(f"{name}: {error}")
print(json.dumps(missing))
"""


def missing(names: list[str]) -> list[str]:
    """The names that `import sfumato as sf` alone does not lead to."""
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_names_of_documents_and_docstrings_need_no_other_import():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.suffix in (".md", ".py", ".pyi"))
    names = set(re.findall(r"(?<![\w./@-])sf(?:\.[A-Za-z_]\w*)+", text))
    assert {"sf.design", "sf.mechanisms.planar.CoordinateNoise.for_visits"} <= names
    assert not missing(sorted(names))


@pytest.mark.slow
def test_a_module_that_must_be_imported_by_name_is_found_out():
    (found,) = missing(["sf.design", "sf.releases.spark"])
    assert "sf.releases.spark: No sfumato.releases attribute spark" in found
