"""The introduction: its blocks run, and it says what the quick run finds."""

import re
from pathlib import Path

import pytest

from sfumato.studies.reproduction import Setting, paper_of, run

PAGE = (Path(__file__).parents[3] / "docs" / "introductory.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"


def test_the_blocks_of_the_page_run():
    assert len(BLOCKS) == 7
    known: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "introductory.md", "exec"), known)
    assert len(known["report"]) == 1  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_page_says_what_the_quick_run_finds(tmp_path):
    done = run(paper_of("introductory"), Setting(True, {}, given=False), tmp_path)
    for claim in done.claims:
        pattern = re.sub(NUMBER, NUMBER.replace("\\", "\\\\"), re.escape(claim.found).replace(r"\.", "."))
        assert f"- **{claim.where}.** {claim.says} *{claim.verdict.capitalize()}.* " in PAGE
        assert re.search(pattern, PAGE), claim.found
