"""Figures as files: the same bytes each time, whole or not at all, in light and in dark."""

from io import BytesIO

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_hex

import sfumato as sf
from sfumato.reports import DARK, LIGHT, save_picture
from sfumato.reports.theme import blank


def drawn():
    figure = blank(4, 3)
    axes = figure.subplots()
    axes.plot([1, 2], [3, 4], color=LIGHT.series[0], label="loss")
    axes.scatter([1], [3], color=LIGHT.series[1])
    axes.set_xlabel("loss (km)")
    axes.text(1, 3, "plain black")
    axes.annotate("there", (1, 3), bbox={"facecolor": "white"}, arrowprops={"arrowstyle": "->"}, xytext=(2, 3))
    axes.legend()
    return figure


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("suffix", "theme"), [(".PNG", LIGHT), (".svg", LIGHT), (".pdf", LIGHT), (".png", DARK)])
def test_the_same_figure_is_the_same_file(tmp_path, suffix, theme):
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix.lower()]
    figure, found = drawn(), []
    for each, name in ((figure, "a"), (figure, "b"), (drawn(), "c")):
        save_picture(each, tmp_path / f"{name}{suffix}", theme)
        found.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert found[0].startswith(start)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.png.exe", ".png"])
def test_other_endings_are_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(sf.errors.InputError, match=r"does not end in \.png, \.svg or \.pdf"):
        save_picture(drawn(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays_when_drawing_fails(tmp_path, monkeypatch):
    figure, path = drawn(), tmp_path / "a.svg"
    path.write_text("before")
    monkeypatch.setattr(figure, "savefig", lambda *_, **__: 1 / 0)
    colour = figure.axes[0].lines[0].get_color()
    with pytest.raises(ZeroDivisionError):
        save_picture(figure, path, DARK)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    assert to_hex(figure.axes[0].lines[0].get_color()) == to_hex(colour)


def test_text_in_svg_is_text(tmp_path):
    save_picture(drawn(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert ">loss (km)</text>" in text
    assert "<dc:date>" not in text


@pytest.mark.slow
def test_dark_has_the_other_colours_and_the_figure_keeps_its_own(tmp_path):
    figure = drawn()
    save_picture(figure, tmp_path / "light.svg")
    save_picture(figure, tmp_path / "dark.svg", DARK)
    light, dark = ((tmp_path / f"{name}.svg").read_text() for name in ("light", "dark"))
    for name in ("ink", "paper", "series-1", "series-2"):
        assert LIGHT.colours[name] in light
        assert LIGHT.colours[name] not in dark
        assert DARK.colours[name] in dark
    save_picture(figure, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == light


def test_no_black_is_left_on_dark_paper(tmp_path):
    save_picture(drawn(), tmp_path / "a.png", DARK)
    pixels = matplotlib.image.imread(BytesIO((tmp_path / "a.png").read_bytes()))[..., :3]
    paper = np.array([int(DARK.paper[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    assert np.allclose(pixels[0, 0], paper, atol=1e-3)
    assert pixels.max(axis=2).min() >= paper.min() - 0.01
