"""The extra postgres: the driver of a ledger's address loads, and says that nobody answers."""

import sqlalchemy

engine = sqlalchemy.create_engine(
    "postgresql+psycopg://nobody@127.0.0.1:9/none", connect_args={"connect_timeout": 5}
)
said = ""
try:
    engine.connect()
except sqlalchemy.exc.OperationalError as error:
    said = str(error)
assert "127.0.0.1" in said  # noqa: S101
