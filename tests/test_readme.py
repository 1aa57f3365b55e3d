"""The README's example runs as it is printed, and says what it should."""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from sfumato.cli import main

README = Path(__file__).parents[1] / "README.md"
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"


def test_python_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 15
    names: dict[str, object] = {}
    exec(compile(example, str(README), "exec"), names)
    printed = capsys.readouterr().out
    match = re.search(r"epsilon at most ([\d.]+)/km, loss ([\d.]+) km, gap (\S+)", printed)
    assert match is not None
    assert float(match[1]) <= 1.0
    assert float(match[3]) <= 1e-4
    errs = re.search(r"average error: about ([\d.]+) km", printed)
    assert errs is not None
    # Reports are at the best guesses, so the attacker's error is the loss, but for what the last design moved.
    np.testing.assert_allclose(float(errs[1]), float(match[2]), atol=2e-2)
    assert float(errs[1]) <= float(match[2])
    report = re.search(r"you report \[(.*)\]", printed)
    assert report is not None
    np.testing.assert_allclose([float(number) for number in report[1].split()], [37.77, -122.43], atol=0.1)
    assert (tmp_path / "city.sfm").stat().st_size > 1000


def test_files_named_in_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (README.parent / target).exists(), target


@pytest.mark.slow
def test_the_main_job_says_what_the_readme_says_it_does(tmp_path, monkeypatch, capsys):
    """The words are the same, and so are the numbers, but for what another processor may round otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["sfumato", "design"])
    with suppress(SystemExit):
        main()
    said = " ".join(capsys.readouterr().out.split())
    quoted = " ".join(re.findall(r"^> (.*)", README.read_text(encoding="utf-8"), flags=re.MULTILINE))
    sentences = [sentence.rstrip(".") for sentence in re.split(r"(?<=\.) (?=[A-Z])", quoted)]
    assert len(sentences) >= 4
    for sentence in sentences:
        pattern = re.sub(NUMBER, r"(\\d[\\d.,]*)", re.escape(sentence).replace(r"\,", ",").replace(r"\.", "."))
        found = re.search(pattern, said)
        assert found is not None, sentence
        for given, printed in zip(re.findall(NUMBER, sentence), found.groups(), strict=True):
            if "," in given:  # of pairs: a count
                assert given == printed
            else:
                close = 0.9 if given.startswith("0.00") else 0.03  # a gap varies with the processor
                assert float(printed.rstrip(",.")) == pytest.approx(float(given), rel=close), sentence
