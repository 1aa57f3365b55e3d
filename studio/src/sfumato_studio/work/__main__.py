"""Entry point of a worker process: reads orders as JSON and sends its progress."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, TextIO

from ..errors import refusal_of
from . import Work

KINDS: Final = {
    "levels": ("design_job", "make_levels"),
    "design": ("design_job", "make_design"),
    "compare": ("comparison_job", "make_comparison"),
    "report": ("report_job", "make_report"),
    "read": ("upload_job", "read_file"),
}
"""The module and the function of each kind of job; only what a job needs is imported."""


def main() -> None:
    """Do one job."""
    os.umask(0o077)  # what it writes holds places of visitors
    out = _claim_pipe()
    orders = json.loads(sys.stdin.readline())
    stopping = threading.Event()

    def listen() -> None:
        if not sys.stdin.readline():
            _leave()  # the studio has gone
        stopping.set()

    def send(news: Mapping[str, Any]) -> None:
        try:
            out.write(json.dumps(news) + "\n")
            out.flush()
        except (BrokenPipeError, ValueError):
            _leave()

    threading.Thread(target=listen, daemon=True).start()
    work = Work(orders, send, stopping.is_set)
    try:
        module, function = KINDS[orders["kind"]]
        result = getattr(import_module(f".{module}", __package__), function)(work)
    except Exception as error:  # noqa: BLE001  # a job that dies silently would look interrupted
        refusal = refusal_of(error)
        if refusal.status >= 500:
            traceback.print_exc()
        send({"event": "error", **vars(refusal)})
    else:
        send({"event": "result", "result": result})
    out.flush()
    os._exit(0)  # the thread that listens would wait


def _leave() -> None:
    """End, with all that this process started: its parent is gone."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _claim_pipe() -> TextIO:
    """Return the pipe to the studio, which nothing else in this process can write to."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return pipe


if __name__ == "__main__":
    main()
