"""The README's example runs as it is printed, and says what it should."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parents[1] / "README.md"


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
    errs = re.search(r"errs by ([\d.]+) km", printed)
    assert errs is not None
    # Reports are at the best guesses, so the attacker's error is the loss, but for what the last design moved.
    np.testing.assert_allclose(float(errs[1]), float(match[2]), atol=2e-2)
    assert float(errs[1]) <= float(match[2])
    report = re.search(r"you report \[(.*)\]", printed)
    assert report is not None
    np.testing.assert_allclose([float(number) for number in report[1].split()], [40, -30], atol=0.1)
    assert (tmp_path / "city.sfm").stat().st_size > 1000


def test_files_named_in_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (README.parent / target).exists(), target
