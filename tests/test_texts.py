"""Texts of the sources: none is cut in two by a bracket that was forgotten."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "examples", "studio"])
def test_no_text_is_a_statement_by_itself(folder):
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            body = getattr(node, "body", None)
            for place, each in enumerate(body if isinstance(body, list) else []):
                if not isinstance(each, ast.Expr) or not isinstance(each.value, ast.Constant | ast.JoinedStr):
                    continue
                text = each.value.value if isinstance(each.value, ast.Constant) else ""
                if text is ...:
                    continue
                describes = isinstance(text, str) and text[:1].isupper()
                documents = isinstance(node, ast.Module | ast.ClassDef) or place == 0
                if not (describes and documents) and not (place == 0 and isinstance(text, str) and text):
                    found.append(f"{path.relative_to(ROOT)}:{each.lineno}")
    assert not found, f"these texts stand alone: {found}"
