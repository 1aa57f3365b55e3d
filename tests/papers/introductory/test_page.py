"""The introduction: its blocks run, and it says what the quick run finds."""

import re
from pathlib import Path

from sfumato_papers.reproduction import Judgement, RunTables, claim_words

PAGE = (Path(__file__).parents[3] / "papers" / "docs" / "introductory.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"


def test_the_blocks_of_the_page_run():
    assert len(BLOCKS) == 7
    known: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "introductory.md", "exec"), known)
    assert len(known["report"]) == 1  # type: ignore[arg-type]


def test_the_page_says_what_the_quick_run_finds(quick_run):
    done = quick_run("introductory")
    assert len({(claim.where, claim.says) for claim in done.claims}) == len(done.claims)
    for row in RunTables(done.folder).texts("claims"):
        line = claim_words([row], brief=True).strip()
        assert re.search(
            re.sub(NUMBER, NUMBER.replace("\\", "\\\\"), re.escape(line).replace(r"\.", ".")), PAGE
        ), line


def test_what_the_article_does_not_say_is_ours(quick_run):
    done = quick_run("introductory")
    verdicts = {claim.says: (claim.ours, claim.verdict) for claim in done.claims}
    confirmed = Judgement.CONFIRMED
    assert verdicts["exp(epsilon u / Delta u) is 2 epsilon-differentially private."] == (False, confirmed)
    assert verdicts["exp(epsilon u / Delta u) is not epsilon-differentially private."] == (True, confirmed)
    assert not [claim for claim in done.claims if claim.verdict is Judgement.REFUTED]
