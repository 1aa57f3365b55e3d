"""The distribution of the studio: the command opens a port, and its page is served with all its parts."""

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")

how = ["studio", "--no-open", "--port", "0", "--folder", "workspaces"]
with subprocess.Popen([COMMAND, *how], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:  # noqa: S603
    try:
        assert running.stdout is not None  # noqa: S101
        said = ""
        while not (found := re.search(r"http://\S+/\?token=\S+", said)):
            line = running.stdout.readline()
            if not line:
                raise SystemExit(f"the studio ended: {said}")
            said += line
        address = found[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address) as answer:
            page = answer.read().decode()
        assets = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', page)
        assert assets, page  # noqa: S101
        for asset in assets:
            with browser.open(address.partition("?")[0] + asset) as answer:
                assert answer.read()  # noqa: S101
    finally:
        running.terminate()
