"""The page on numbers and columns: its commands run on a generated survey and print what it quotes."""

import csv
import re
import shlex
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "categories.md").read_text(encoding="utf-8")
COMMANDS = [
    re.sub(r"\s+# .*", "", line)
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)
    for line in block.splitlines()
]
QUOTED = [
    " ".join(each.replace("\n> ", " ").split()) for each in re.findall(r"^> (.+(?:\n> .+)*)", PAGE, flags=re.M)
]


@pytest.fixture
def survey(tmp_path):
    random = np.random.default_rng(7)
    rows = []
    for who in range(5_000):
        diagnosis = str(random.choice(["flu", "cold", "none"], p=[0.2, 0.3, 0.5]))
        age = int(np.clip(random.normal(65 if diagnosis == "flu" else 40, 12), 18, 97))
        rows.append([who, diagnosis, age])
    with (tmp_path / "survey.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["who", "diagnosis", "age"], *rows])
    return rows


def shares(path):
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["diagnosis"], row["age"]): float(row["probability"]) for row in csv.DictReader(file)}


@pytest.mark.slow
def test_every_command_runs_and_prints_what_is_quoted(run, survey, tmp_path):
    said = []
    for number, line in enumerate(COMMANDS):
        words = shlex.split(line)[1:]
        if words[0] == "estimate" and "--intervals" in words:
            words += ["-o", f"shares-{number}.csv"]
        done = run(*words)
        assert done.code == 0, f"{line}: {done.err}"
        said.append(done.text)
    told = " ".join(" ".join(said).split())
    assert len(QUOTED) == 2
    for each in QUOTED:
        assert each in told
    pairs = [(diagnosis, "18-57" if age < 58 else "58-97") for _, diagnosis, age in survey]
    tables = sorted(path for path in tmp_path.glob("shares-*.csv") if "columns" not in path.name)
    assert len(tables) == 2
    for path, epsilon in zip(tables, (1, 2), strict=True):  # apart: two reports at 1; together: one at 2
        margin = sf.accuracy(6, epsilon=epsilon, answers=len(survey), failure=1e-6).margin
        for pair, share in shares(path).items():
            assert abs(share - pairs.count(pair) / len(survey)) < margin * (2 if epsilon == 1 else 1)


@pytest.fixture(scope="module")
def designed(tmp_path_factory):
    """The file of a design of both columns together."""
    path = tmp_path_factory.mktemp("designed") / "j.sfm"
    options = ["--column", "diagnosis", "--column", "age", "--labels", "flu,cold,none"]
    options += ["--numbers", "age=18..97:40", "--epsilon", "2", "--split", "joint", "--output", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sfumato", "design-column", *options])
        with suppress(SystemExit):
            main()
    assert path.exists()
    return path


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "row",
    [
        "pox,20",
        "flu,17",
        "flu,98",
        "flu,",
        ",20",
        "flu,NaN",
        "flu,1e400",
        " flu,20",
        "Flu,20",
        "flu,-inf",
        "flu,abc",
    ],
)
def test_rows_that_are_outside_are_refused(run, designed, tmp_path, row):
    (tmp_path / "in.csv").write_text(f"diagnosis,age\nflu, 20 \n{row}\n", encoding="utf-8")
    done = run("release", designed, "in.csv", "out.csv")
    assert done.code == 1
    assert "1 of 2 rows" in done.err
    assert "(the first is number 2)" in " ".join(done.err.split())
    done = run("release", designed, "in.csv", "out.csv", "--outside", "drop", "--allow", 1)
    assert done.code == 0, done.err
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 2
