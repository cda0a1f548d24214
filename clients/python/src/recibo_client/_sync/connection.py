"""Sends requests, again if need be, and raises the errors of responses."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import httpx
import pydantic

from recibo_client import _retries, errors

if TYPE_CHECKING:
    from pathlib import Path

    from recibo_client._calls import Call
    from recibo_client._options import Options

Model = TypeVar("Model", bound=pydantic.BaseModel)
Receive = Callable[[httpx.Response], Any]

# No answer that is kept in memory is nearly as large: a file has at most 15 MB.
_MAX_BODY_BYTES = 64 * 1024 * 1024
# Nothing was sent yet when these are raised.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Connection:
    """The connections to a server."""

    def __init__(self, options: Options, http_client: httpx.Client | None) -> None:
        self.options = options
        self._http = http_client or _new_client()
        self._has_answered = False

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, call: Call, *, retry_seconds: float | None = None) -> httpx.Response:
        """Send a request and return its response; raises ReciboError."""
        seconds = self.options.retry_seconds if retry_seconds is None else retry_seconds
        return self._exchange(call, _read, seconds)

    def get(self, call: Call, model: type[Model], *, retry_seconds: float | None = None) -> Model:
        """Send a request and return the model in its response."""
        response = self.send(call, retry_seconds=retry_seconds)
        try:
            return model.model_validate_json(response.content)
        except pydantic.ValidationError as error:
            message = f"{response.request.url} did not answer as Recibo does: {error}"
            raise errors.UnexpectedResponseError(message) from error

    def save(self, call: Call, path: Path) -> Path:
        """Write the content of a response to a file; a file that was there is replaced."""
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")

        def write(response: httpx.Response) -> httpx.Response:
            with part.open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
            return response

        try:
            self._exchange(call, write, self.options.retry_seconds)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return path

    def _exchange(self, call: Call, receive: Receive, retry_seconds: float) -> httpx.Response:
        """Send a request until there is a response or an error that is final."""
        retries = _retries.Retries(call, retry_seconds, is_known=self._has_answered)
        while True:
            try:
                return self._attempt(call, receive)
            except errors.ReciboError as error:
                pause = retries.pause_after(error)
                if pause is None:
                    raise
            time.sleep(pause)

    def _attempt(self, call: Call, receive: Receive) -> httpx.Response:
        try:
            with self._http.stream(
                call.method,
                self.options.url(call.path),
                params=dict(call.params),
                headers={**self.options.headers(), **call.headers},
                timeout=self.options.limits(call.wait_seconds),
                # Your own client may follow them, and would send the key to another host.
                follow_redirects=False,
                **call.content(),
            ) as streamed:
                if streamed.is_success:
                    _require_no_page(streamed)
                take = receive if streamed.is_success else _read
                response: httpx.Response = take(streamed)
                self._has_answered = True
        except httpx.RequestError as problem:
            # Some problems have no text.
            reason = str(problem) or type(problem).__name__
            message = f"{self.options.base_url} (RECIBO_URL) does not answer: {reason}"
            was_sent = not isinstance(problem, _UNSENT)
            raise errors.ConnectionFailedError(message, was_sent=was_sent) from problem
        error = errors.of_response(response)
        if error is not None:
            raise error
        return response


def _new_client() -> httpx.Client:
    try:
        return httpx.Client()
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as problem:
        message = f"A proxy or a certificate in the environment cannot be used: {problem}"
        raise errors.ConfigurationError(message) from problem


def _require_no_page(response: httpx.Response) -> None:
    """Refuse the page of a proxy or of another site, which is no document to save."""
    if response.headers.get("Content-Type", "").startswith("text/html"):
        message = f"{response.request.url} did not answer as Recibo does, but with a web page."
        raise errors.UnexpectedResponseError(message)


def _read(response: httpx.Response) -> httpx.Response:
    """Return the response with its body; a small one may unpack to gigabytes."""
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > _MAX_BODY_BYTES:
            message = f"{response.request.url} answered more than {_MAX_BODY_BYTES} bytes."
            raise errors.UnexpectedResponseError(message)
    # Those of its encoding and length are no longer true.
    names = {b"date", b"location", b"retry-after"}
    # As bytes, because httpx encodes only texts of ASCII again.
    kept = [(name, value) for name, value in response.headers.raw if name.lower() in names]
    return httpx.Response(
        response.status_code, headers=kept, content=bytes(body), request=response.request
    )
