"""The time in which the studio answers a move of the slider, at 300 places: it is to be below 200 ms.

    python -m benchmarks.slider

The built-in city is divided into about 300 places, its levels are made, and then the slider is moved 200 times
between them: each time the visitor's place and the report that an attacker sees are others. Time is that of whole
requests on this machine, as the page sends them.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import uvicorn

from sfumato_studio.app import make_app
from sfumato_studio.guard import TOKEN_HEADER, Key

PLACES: Final = 300
MOVES: Final = 200
TOKEN: Final = "a-token-of-the-benchmark"  # noqa: S105  # the studio lives as long as the benchmark


def main() -> None:
    """Measure, and print the times."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as the studio's own
    with tempfile.TemporaryDirectory() as folder, listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        config = uvicorn.Config(make_app(Path(folder), Key(TOKEN, port)), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            address = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=address, headers={TOKEN_HEADER: TOKEN}, timeout=60) as client:
                places, first, took = measured(client)
        finally:
            server.should_exit = True
            thread.join()
    median, most = np.quantile(took, [0.5, 0.95])
    sys.stdout.write(
        f"{places} places, {MOVES} moves: median {1000 * median:.0f} ms, 95 % below {1000 * most:.0f} ms, "
        f"longest {1000 * max(took):.0f} ms; the first, with nothing in memory, {1000 * first:.0f} ms\n"
    )


def measured(client: httpx.Client) -> tuple[int, float, list[float]]:
    """Return the places, and the seconds of the first and of the other moves."""
    base = f"/api/workspaces/{_asked(client, 'POST', '/api/workspaces')['id']}"
    _asked(client, "POST", f"{base}/example", {"example": "city"})
    site = _asked(client, "PUT", f"{base}/site", {"kind": "places", "detail": PLACES})["site"]
    while len((made := _asked(client, "GET", f"{base}/levels"))["levels"]) < made["total"]:
        time.sleep(0.5)
    took = []
    for move in range(MOVES + 1):
        query = f"level={5 * move % made['total']}&at={move % site['n']}&report={7 * move % site['n']}"
        began = time.perf_counter()
        _asked(client, "GET", f"{base}/preview?{query}")
        took.append(time.perf_counter() - began)
    return site["n"], took[0], took[1:]


def _asked(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    return client.request(method, path, json=body).raise_for_status().json()


if __name__ == "__main__":
    main()
