"""Colours for light and dark paper, blank figures, and figures as files and as SVG in pages."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as Tree

from ..._system import atomically
from ...errors import InputError, MissingExtraError
from ...escaping import plain
from .palette import DARK, LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

_STEPS: Final = 64  # colours of a scale
_COVER: Final = (0.06, 0.92)  # of a map, by the least and the largest share
_TICKS: Final = 4
_NO_DATE: Final[dict[str, dict[str, Any]]] = {
    ".png": {"Software": "sfumato"},
    ".svg": {"Creator": "sfumato", "Date": None},
    ".pdf": {"Creator": "sfumato", "Producer": "sfumato", "CreationDate": None},
}
# matplotlib keeps settings of its files in one table of the whole process.
_LOCK: Final = Lock()
_SETTINGS: Final[Any] = {"svg.fonttype": "none", "svg.hashsalt": "sfumato", "pdf.fonttype": 42}
_ROOT_STYLE: Final = "stroke-linejoin: round; stroke-linecap: butt; max-width: 100%; height: auto"
_UNUSED_TAGS: Final = ("metadata", "style")
_LONG_NUMBER: Final = re.compile(r"(\d+\.\d)\d+")  # of a path, with what it is cut to


def blank(width: float, height: float) -> Figure:
    """Return an empty figure, sizes in inches, in the colours of `LIGHT` and without matplotlib's global state.

    Raises `MissingExtraError` if matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("A figure", "report") from None
    from ._theme_exchange import ThemedFigure

    return ThemedFigure(figsize=(width, height), layout="constrained", dpi=150)


def share_scale() -> Colormap:
    """Return the scale of shares on a map: one colour, which covers the map the more, the larger the share."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    ends = [(*to_rgb(LIGHT.series[3]), cover) for cover in _COVER]
    return LinearSegmentedColormap.from_list("share", ends, _STEPS)


def colour_bar(
    scale: Colormap,
    norm: Normalize,
    ax: Axes,
    label: str,
    *,
    counts: bool = False,
    ticks: Sequence[float] | None = None,
) -> None:
    """Draw a bar of colours below axes, made of shapes: an image would not scale in a page."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure: Any = ax.figure
    if ticks is None:
        scale = scale.resampled(_STEPS)
    mappable = ScalarMappable(norm=norm, cmap=scale)
    bar = figure.colorbar(mappable, ax=ax, label=label, location="bottom", shrink=0.9, aspect=30, ticks=ticks)
    bar.solids.set_rasterized(False)
    if ticks is None:
        bar.solids.set_linewidth(0.3)
        bar.locator = MaxNLocator(_TICKS, integer=counts)  # a scale by square roots crowds those on the right
    if counts:
        bar.formatter = FuncFormatter(lambda number, _: f"{number:,.0f}")
    bar.update_ticks()


def one_panel() -> tuple[Figure, Axes]:
    """Return a figure with a single panel on a grid."""
    figure = blank(6.2, 5.4)
    ax: Any = figure.subplots()
    ax.grid(alpha=0.3)
    return figure, ax


def say_instead(ax: Axes, sentence: str) -> None:
    """Put a sentence into an empty panel."""
    box = {"facecolor": LIGHT.paper, "edgecolor": LIGHT.muted, "pad": 8}
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", fontsize=9.5, bbox=box, zorder=5)


def save_picture(figure: Figure, path: str | os.PathLike[str], theme: Theme = LIGHT) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of its name; whole or not at all.

    The same figure makes the same bytes with the same version of matplotlib: no file holds a date. Text in SVG and
    PDF stays text, which can be searched and read aloud. The theme is `LIGHT` or `DARK`. Raises `InputError` if
    the name has another ending. Raises `FileError` if the file cannot be written.
    """
    suffix = check_suffix(path)
    with atomically(path) as temporary, temporary.open("wb") as file:
        write_figure(figure, file, suffix, theme)


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the lower-case suffix of a picture's name; raise `InputError` for another format."""
    suffix = Path(path).suffix.lower()
    if suffix not in _NO_DATE:
        raise InputError(
            f"the picture {os.fspath(path)!r} does not end in .png, .svg or .pdf.",
            f"write it as {Path(path).stem}.png.",
        )
    return suffix


def write_figure(figure: Figure, file: IO[bytes], suffix: str, theme: Theme = LIGHT) -> None:
    """Write a figure to an open file in the format of a suffix."""
    from matplotlib import rc_context

    from ._theme_exchange import exchange_colours

    with _LOCK, rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating legend with loc")  # on a busy machine it takes a while
        restore = exchange_colours(figure, theme)
        try:
            figure.savefig(file, format=suffix[1:], metadata=_NO_DATE[suffix])
        finally:
            restore()


def as_svg(figure: Figure, *, title: str, description: str) -> str:
    """Return a figure as SVG to be put into an HTML page.

    It fills the available width. Text stays text. Its colours are variables such as ``var(--ink, #1a1a1a)``, which
    `style_sheet` sets for light and dark pages. It has no script and no external reference. Its ids depend on
    figure, title and description, so that different figures on a page have different ids. Raises
    `MissingExtraError` if matplotlib is not installed.
    """
    file = BytesIO()
    write_figure(figure, file, ".svg")
    return inline_svg(file.getvalue(), title=title, description=description)


def inline_svg(svg: bytes, *, title: str, description: str) -> str:
    """Return inline SVG as `as_svg`, from a figure that `save_picture` wrote as SVG in light colours."""
    prefix = "f" + sha256(svg + f"{title}\0{description}".encode()).hexdigest()[:10]
    root = Tree.fromstring(svg)  # noqa: S314 - matplotlib wrote it just now
    for parent in root.iter():
        for child in [child for child in parent if _local(child.tag) in _UNUSED_TAGS]:
            parent.remove(child)
    variables = {colour: f"var(--{name}, {colour})" for name, colour in LIGHT.colours.items()}
    for element in root.iter():
        element.tag = _local(element.tag)
        for key, value in list(element.attrib.items()):
            del element.attrib[key]
            element.set(_local(key), _adapt_attribute(_local(key), value, prefix, variables))
    _drop_unused_ids(root)
    size = root.get("viewBox", "")
    label = f"{prefix}-title {prefix}-desc"
    root.attrib = {"viewBox": size, "role": "img", "aria-labelledby": label, "style": _ROOT_STYLE}
    for at, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Tree.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = plain(text)
        root.insert(at, element)
    return Tree.tostring(root, encoding="unicode")


def style_sheet() -> str:
    """Return the style sheet of a page with figures: their colours in light, and in dark where that is preferred.

    A page that lets people choose sets ``data-theme`` of its root element to ``light`` or ``dark``.
    """
    light, dark = (
        "; ".join(f"--{name}: {colour}" for name, colour in theme.colours.items()) for theme in (LIGHT, DARK)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f"@media print {{ :root:root:root {{ {light} }} }}\n"
    )


def _drop_unused_ids(root: Tree.Element) -> None:
    """Drop ids without references, because matplotlib repeats those of equal images."""
    values = [value for element in root.iter() for key, value in element.attrib.items() if key != "id"]
    used = set(re.findall(r"#([\w-]+)", " ".join(values)))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _adapt_attribute(key: str, value: str, prefix: str, variables: dict[str, str]) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{prefix}-{value[1:]}"
    if key == "clip-path" or "url(#" in value:
        value = value.replace("url(#", f"url(#{prefix}-")
    if key == "d":
        return _LONG_NUMBER.sub(r"\1", value)
    if key in ("style", "fill", "stroke"):
        return re.sub(r"#[0-9a-f]{6}", lambda match: variables.get(match[0], match[0]), value)
    return value
