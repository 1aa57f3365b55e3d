"""``sfumato design``: a proved mechanism from places, with its file and a report."""

from __future__ import annotations

from ..categories import design_columns
from ..design_options import DesignOptions
from ..each_user import design_each_user
from ..from_fields import options_of
from ..placed import design_places


@options_of(DesignOptions)
def command(asked: DesignOptions) -> None:
    """Design the mechanism of least loss, and prove it.

    The privacy is what the options ask for; without any it is an epsilon of 1/km, for any
    two points wherever they are. Points are rounded at random to a lattice, whose spacing
    is chosen and said. With --cell, --cells or --hexagons there are cells instead, and the
    promise is about their centres.
    Writes the mechanism file (.sfm), a report (.md) and maps (.png); files of these names
    are replaced. The mechanism file holds the prior: anyone with it can see how often each
    place is visited, and with --distortion also where the visits were. Exit code 3 if the optimum was not reached.
    With --region and no visits the design is for points spread evenly, and depends on no one's data.
    With --each-user there is a mechanism file for each user, in a folder that 'sfumato release --by' takes.
    """
    if asked.column:
        design_columns(asked, asked.column)
        return
    asked.refuse(
        ("labels", "numbers", "circular", "split", "prior"), "was given without --column.", "name the column."
    )
    if asked.each_user:
        design_each_user(asked)
        return
    asked.refuse(
        ("least_visits", "processes"), "was given without --each-user.", "add --each-user, or leave it out."
    )
    design_places(asked)
