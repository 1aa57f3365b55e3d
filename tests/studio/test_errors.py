"""Errors in the words of the page, which has fields and no options."""

from sfumato.errors import DataError, argument
from sfumato_studio.errors import message_of


def test_a_region_is_its_four_edges():
    hint = f"choose a smaller one with {argument('region', '8 km x 6 km around 48.85,2.35')}."
    assert message_of(DataError("it is too wide.", hint))[1] == (
        "Choose a smaller one with the four edges of the region."
    )
