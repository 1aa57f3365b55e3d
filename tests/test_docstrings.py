"""Docstrings begin with the thing, not with a question about it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUESTIONS = ("What", "How", "Which", "Where", "Why", "Who")


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks"])
def test_no_docstring_begins_with_a_question(folder):
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            words = (ast.get_docstring(node) or "").split()
            if words and words[0] in QUESTIONS:
                found.append(f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'the module')}")
    assert not found, f"begin with the thing: {found}"
