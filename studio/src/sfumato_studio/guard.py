"""Middleware: authentication, CSRF checks and security headers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import RefusedError, error_body
from .limits import BODY_BYTES, OUTLINE_BYTES, UPLOAD_BYTES

TOKEN_HEADER: Final = "x-sfumato-token"  # noqa: S105  # the name of a header
_SAFE: Final = frozenset({"GET", "HEAD"})
_OWN_SITES: Final = frozenset({"same-origin", "none"})  # what browsers say of requests by this page or an address
_MOST: Final = {"file": UPLOAD_BYTES, "outline": OUTLINE_BYTES}  # by the last part of the path

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_ASSETS: Final = "/assets/"  # whose names change with their content
_IMMUTABLE: Final = "private, max-age=31536000, immutable"
_NO_TOKEN: Final = RefusedError(
    403,
    "This page belongs to a running studio.",
    "open the address that 'sfumato studio' printed in the terminal, with its token.",
)
_FOREIGN_PAGE: Final = RefusedError(
    403, "This request comes from another page.", "use the page of the studio itself."
)
_STOPPING: Final = RefusedError(
    503, "The studio was stopped.", "start it again with 'sfumato studio'; what was finished is kept."
)


@dataclass(slots=True, repr=False)
class Key:
    """The secret of one run of the studio, and where it listens."""

    token: str  # the secret in the address
    port: int  # on 127.0.0.1
    start: str = ""  # the part of the page's address that names what is opened first

    @property
    def hosts(self) -> frozenset[str]:
        """The Host headers that are answered: any other may be a foreign name that points to this machine."""
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers share cookies between ports, so it has the port in it."""
        return f"sfumato_studio_{self.port}"

    @property
    def session(self) -> str:
        """The value of the cookie, which does not reveal the token."""
        return hmac.new(self.token.encode(), b"session", hashlib.sha256).hexdigest()


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, key: Key) -> None:
        self.app, self.key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        path, method = scope["path"], scope["method"]
        has_begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                fields = MutableHeaders(scope=message)
                fields.update(_HEADERS)
                if path.startswith(_ASSETS) and message["status"] == 200:
                    fields["Cache-Control"] = _IMMUTABLE
            await send(message)

        most = _MOST.get(path.rpartition("/")[2], BODY_BYTES)
        answer: ASGIApp = self.app
        if headers.getlist("host") not in [[host] for host in self.key.hosts] or self._is_foreign(headers):
            answer = _response(_FOREIGN_PAGE)
        elif method == "GET" and path == "/" and self._is_token(_query_tokens(scope)):
            answer = self._welcome()
        elif not (by_header := self._is_token(headers.getlist(TOKEN_HEADER))) and not self._has_cookie(headers):
            answer = _response(_NO_TOKEN)
        elif method not in _SAFE and not by_header and not _is_own_page(headers):
            answer = _response(_FOREIGN_PAGE)
        elif _stated_bytes(headers) > most:
            problem = f"The request is larger than {most // 2**20} MB."
            answer = _response(
                RefusedError(413, problem, "use a smaller file: some of the rows are enough to try things out.")
            )
        try:
            await answer(scope, _limit_bytes(receive, most), send_guarded)
        except asyncio.CancelledError:  # the server stops, and would print a traceback
            if not has_begun:
                await _response(_STOPPING)(scope, receive, send_guarded)

    def _is_foreign(self, headers: Headers) -> bool:
        """Return whether another page sent the request: another port of this machine is another page, too."""
        pages = {f"http://{host}" for host in self.key.hosts & set(headers.getlist("host"))}
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        return not (pages.issuperset(origins) and _OWN_SITES.issuperset(sites))

    def _is_token(self, values: list[str]) -> bool:
        return len(values) == 1 and _is_equal(values[0], self.key.token)

    def _has_cookie(self, headers: Headers) -> bool:
        sessions: list[str] = []
        for line in headers.getlist("cookie"):
            with suppress(CookieError):
                sessions += [part.value for name, part in SimpleCookie(line).items() if name == self.key.cookie]
        return any(_is_equal(session, self.key.session) for session in sessions)

    def _welcome(self) -> Response:
        """Keep the session in a cookie, and take the token out of the address."""
        cookie = f"{self.key.cookie}={self.key.session}; Path=/; HttpOnly; SameSite=Strict"
        return Response(status_code=303, headers={"location": f"/{self.key.start}", "set-cookie": cookie})


def _response(error: RefusedError) -> Response:
    return JSONResponse(error_body(error), error.status)


def _is_own_page(headers: Headers) -> bool:
    """Return whether a browser says that the studio's own page sent the request; `_is_foreign` is asked first."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


def _query_tokens(scope: Scope) -> list[str]:
    """Return the tokens in the query of a request."""
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [])


def _is_equal(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "surrogateescape"), secret.encode())


def _stated_bytes(headers: Headers) -> int:
    """Return how many bytes a request says that it has; what cannot be read is refused later."""
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0 if not text else 2**63


def _limit_bytes(receive: Receive, most: int) -> Receive:
    """Count the bytes that arrive, and stop at too many, independent of the stated length."""
    size = 0

    async def count_bytes() -> Message:
        nonlocal size
        message = await receive()
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413)
        return message

    return count_bytes
