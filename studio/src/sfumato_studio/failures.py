"""Errors of the application: each is answered as JSON in one form."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sfumato.errors import SfumatoError

from .refusals import RefusedError, error_body, message_of

_STATUS: Final = {
    400: ("The request cannot be read.", "send what the interface describes at /api/openapi.json."),
    404: ("There is no such thing here.", "load the page again; it may have been deleted."),
    405: ("This cannot be done here.", "see /api/openapi.json."),
    413: ("The file is too large.", "use a smaller one: some of the rows are enough to try things out."),
}


def handle_failures(app: FastAPI) -> None:
    """Answer all errors of an application in one form."""

    async def refused(_: Request, error: Exception) -> JSONResponse:
        found = error if isinstance(error, RefusedError) else RefusedError(500, str(error))
        return JSONResponse(error_body(found.message, found.hint, found.field), found.status)

    async def explained(_: Request, error: Exception) -> JSONResponse:
        message, hint = message_of(error) if isinstance(error, SfumatoError) else (str(error), "")
        return JSONResponse(error_body(message, hint), 422)

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        first: Any = error.errors()[0] if isinstance(error, RequestValidationError) else {}
        where = [str(part) for part in first.get("loc", ()) if part not in ("body", "query", "path")]
        field = ".".join(where)
        said = str(first.get("msg", "it cannot be read")).removeprefix("Value error, ")
        what = f"{field}: {said}" if field else said
        return JSONResponse(error_body(what, "send what /api/openapi.json describes.", field), 422)

    async def by_status(_: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 500
        message, hint = _STATUS.get(status, ("The request was refused.", ""))
        headers = error.headers if isinstance(error, HTTPException) else None
        return JSONResponse(error_body(message, hint), status, headers=dict(headers) if headers else None)

    async def unforeseen(_: Request, __: Exception) -> JSONResponse:
        return JSONResponse(
            error_body(
                "Something went wrong that was not foreseen.",
                "try again; what happened is in the terminal that runs the studio.",
            ),
            500,
        )

    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(SfumatoError, explained)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, by_status)
    app.add_exception_handler(Exception, unforeseen)
