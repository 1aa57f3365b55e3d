"""The one door to torch, which only the extra ``learn`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingExtraError

if TYPE_CHECKING:
    import torch


def device_for(feature: str, wanted: str | None = None) -> torch.device:
    """Return where to compute: the device named, else a GPU where there is one, else the CPU.

    Args:
        feature: What needs torch, for the error message.
        wanted: Such as ``"cpu"`` or ``"cuda"``.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    if wanted is None:
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)
