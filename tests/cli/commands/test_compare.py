"""``sfumato compare``."""


def test_at_equal_epsilon(run, visits_file, tmp_path):
    done = run("compare", visits_file, "--cells", "4x3", "--epsilon", "1/km", "-o", "t.csv", "--figure", "t.png")
    assert done.code == 0, done.err
    assert "optimum" in done.text
    assert "planar geometric + remap" in done.text
    assert "Proved: no mechanism of epsilon 1/km loses less than" in done.text
    assert (tmp_path / "t.csv").read_text().startswith("name,parameter,epsilon_upper")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_refusals(run, visits_file):
    assert "both --epsilon and --max-loss" in run("compare", "--epsilon", "1/km", "--max-loss", "1 km").err
    assert "does not end in .png" in run("compare", "--figure", "t.jpg").err
    assert run("compare", "nowhere.csv").code == 1
    done = run("compare", visits_file, "--cells", "4x3", "--max-loss", "90 km")
    assert done.code == 1
    assert "always reporting the same place loses" in done.err
