"""Arrow lets go of a stream before a table is returned: a thread that does so while Python ends aborts it."""

import io
import sys

from sfumato.tables.delimited import parse_rows


def test_nothing_holds_the_stream_of_a_table_that_was_read():
    text = b"a,b\n" + b"1,2\n" * 1000
    for _ in range(50):
        stream = io.BytesIO(text)
        alone = sys.getrefcount(stream)
        assert parse_rows(stream).num_rows == 1000
        assert sys.getrefcount(stream) == alone
