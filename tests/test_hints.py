"""No hint that the command line can reach speaks Python, unless it says that it is for Python only."""

import ast
import re
from pathlib import Path

import pytest

import sfumato

ROOT = Path(sfumato.__file__).parent
# What commands call; the rest of the package is reached from Python only.
REACHED = (
    *("cli", "geo", "files", "report", "studies", "audits", "rounding", "core", "tables"),
    *(f"optimal/{name}.py" for name in ("design", "run", "problem", "sweep", "structured")),
    *("releases/release.py", "releases/estimate", "attacks/attack.py", "evidence/observed/decide.py"),
)
# Descriptions, coordinates and spaces are passed in Python only; requirements have a language of their own.
PYTHON_ONLY = {
    "geo/grid.py": "describe()",
    "geo/hexagons.py": "describe()",
    "core/metric.py": "np.minimum",
    "core/space.py": "crs=",
    "audits/requirement.py": "(delta=",
    "cli/auditing/knowledge.py": "mu=1",
    "audits/request.py": "prior=every",
    "releases/estimate/reports.py": "Reports.of",
    "files/matrix.py": "numpy.save",
    "files/npy.py": "numpy.save",
    "geo/places.py": "covering()",
}
PYTHON = re.compile(
    r"\b[a-z_]+=(?![=<>])|\b[a-z_.]+\([^)]*[=.][^)]*\)|\b(?:np|sf|numpy)\.|\b[A-Z]\w+\.[a-z]\w+|\w\(\)"
)


def modules():
    for part in REACHED:
        place = ROOT / part
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def texts(node):
    """Yield the literal text of an argument of an error, but not what `argument` and `python` translate."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("argument", "python"):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.FormattedValue):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_hints_speak_no_python(path):
    allowed = PYTHON_ONLY.get(path.relative_to(ROOT).as_posix())
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            message = " ".join(text for each in node.args for text in texts(each))
            if allowed is None or allowed not in message:
                assert not PYTHON.search(message), f"line {node.lineno}: {message}"
