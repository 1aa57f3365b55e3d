"""One look for every figure: colours, blank figures, and how they are saved, in light and in dark."""

from .bars import colour_bar
from .canvas import blank
from .inline import as_svg, inline_svg, style_sheet
from .palette import DARK, LIGHT, MAP, ON_MAP, Theme
from .panels import one_panel, say_instead
from .saving import check_suffix, save_picture

__all__ = [
    "DARK",
    "LIGHT",
    "MAP",
    "ON_MAP",
    "Theme",
    "as_svg",
    "blank",
    "check_suffix",
    "colour_bar",
    "inline_svg",
    "one_panel",
    "save_picture",
    "say_instead",
    "style_sheet",
]
