"""A URL as upstream: a chat completions server somewhere else, asked over HTTP."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, UpstreamProtocolError
from .decoding import push_decoded, start_answer
from .headers import outbound_request_headers, relayed_request_headers
from .transport import LoopClient, close, raise_upstream_error, read
from .url import parse_base_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    import httpx

    from ..options import Limits
    from .base import Headers, Sink, UpstreamCall
    from .decoding import BodyDecoder


class HttpUpstream:
    """Ask `{url}/chat/completions`, with the client's own credential or with `api_key`.

    Args:
        url: the base URL, "http://localhost:8000/v1"; a query in it goes with every request.
        api_key: sent as `Authorization: Bearer …` instead of the client's Authorization, api-key and x-api-key.
        client: used as it is and never closed; but redirects are not followed, its cookie jar is not sent (a Cookie in
            its headers is), and the waits are those of `limits`, not its own.
        limits: connect_timeout for connecting; idle_timeout for requests that are passed through.

    Raises:
        ConfigurationError: the URL or the key cannot be used.
    """

    def __init__(
        self, url: str, *, api_key: str | None = None, client: httpx.AsyncClient | None = None, limits: Limits
    ) -> None:
        self.base = parse_base_url(url)
        self.limits = limits
        self._api_key = _checked_key(api_key)
        self._client = client
        self._own_clients = LoopClient()
        self._chat_url = self.base.join("/chat/completions")

    async def send(self, call: UpstreamCall, sink: Sink) -> None:
        """Ask once, push the answer; the connection is closed when this returns or raises."""
        headers = outbound_request_headers(call.scope["headers"], len(call.body), self._api_key)
        # no read timeout: the engine owns the waits, and knows whether it waits for headers, a token or an error body
        response = await self._open("POST", self._chat_url, headers, call.body, read_timeout=None)
        try:
            names_and_values = [(name.lower(), value) for name, value in response.headers.raw]
            decoder = await start_answer(sink, response.status_code, names_and_values)
            if not sink.finished:
                await _push(response, decoder, sink)
        finally:
            await close(response)

    async def relay(
        self,
        method: str,
        url: str,
        headers: Headers,
        content: bytes | AsyncIterable[bytes] | None,
        *,
        with_key: bool = True,
    ) -> httpx.Response:
        """Pass a client's request on to a URL of `self.base`, all waits within `idle_timeout`.

        `with_key` is False for what lies beside the base: the key is for the API, not for what else the server has; nor
        are the client's credentials, which the key takes the place of.

        The answer is read with `transport.read` and closed with `transport.close`. Raises UpstreamConnectionError,
        UpstreamTimeoutError.
        """
        relayed = relayed_request_headers(headers, self._api_key, with_key=with_key)
        return await self._open(method, url, relayed, content, read_timeout=self.limits.idle_timeout)

    async def aclose(self) -> None:
        """Close our client of the running event loop; the next request makes a new one."""
        await self._own_clients.aclose()

    async def _open(
        self,
        method: str,
        url: str,
        headers: Headers,
        content: bytes | AsyncIterable[bytes] | None,
        *,
        read_timeout: float | None,
    ) -> httpx.Response:
        client = self._client or await self._own_clients.get()
        connect = self.limits.connect_timeout
        # connect, read, write, pool; aiohttp takes the last one for the whole of connecting, names looked up included
        timeout = (connect, read_timeout, read_timeout, connect)
        request = client.build_request(method, url, headers=headers, content=content, timeout=timeout)
        if "cookie" not in client.headers:  # what an answer to someone else may have put into a jar
            request.headers.pop("cookie", None)
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
        except Exception as error:  # known by its class's name, since the client may be of any library; others go on
            raise_upstream_error(error)
        if response.status_code == 101:
            await close(response)
            raise UpstreamProtocolError("the upstream switched protocols, which nobody asked for")
        return response


async def _push(response: httpx.Response, decoder: BodyDecoder | None, sink: Sink) -> None:
    async with aclosing(read(response)) as pieces:
        async for data in pieces:
            if decoder is None:
                await sink.body(data)
            else:
                await push_decoded(sink, decoder.feed(data))
            if sink.finished:
                return
    if decoder is not None:
        await push_decoded(sink, decoder.finish())
    await sink.end()


def _checked_key(api_key: str | None) -> str | None:
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise ConfigurationError(
            "api_key holds a character that no header can carry; is there a line break after it?", param="api_key"
        )
    return api_key or None
