"""One look for every figure: colours, blank figures, and how they are saved, in light and in dark."""

from .figures import (
    as_svg,
    blank,
    check_suffix,
    colour_bar,
    inline_svg,
    one_panel,
    save_picture,
    say_instead,
    share_scale,
    style_sheet,
)
from .palette import DARK, LIGHT, ON_MAP, Theme

__all__ = [
    "DARK",
    "LIGHT",
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
    "share_scale",
    "style_sheet",
]
