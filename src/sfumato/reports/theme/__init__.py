"""One look for every figure: colours, blank figures, and how they are saved, in light and in dark."""

from .canvas import blank, colour_bar, one_panel, say_instead
from .palette import DARK, LIGHT, MAP, ON_MAP, Theme
from .saving import as_svg, check_suffix, inline_svg, save_picture, style_sheet

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
