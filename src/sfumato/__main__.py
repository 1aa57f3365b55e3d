"""Run the command line with ``python -m sfumato``."""

from .cli import main

main()
