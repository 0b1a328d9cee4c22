"""The HTTP client behind a URL: how it is made, what its errors mean, how its answers are read and closed.

httpx, aiohttp and httpx-aiohttp are imported with the first request, never with the package. A client of the caller's
may be of any library with httpx's interface (httpx2, say), so that errors are known by the names of their classes.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NoReturn

import anyio
from anyio.lowlevel import RunVar

from ..errors import UpstreamConnectionError, UpstreamTimeoutError

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable

    import httpx

    from ..errors import UpstreamError

CLOSE_SECONDS = 2.0
"""How long closing an answer may take; closing a TLS connection waits for the other side."""

MAX_HEADER_BYTES = 64 * 1024
"""One header line of an answer; aiohttp's default of 8 KiB refuses answers that httpx reads (h11: 100 KiB for all)."""

MAX_BUFFERED_PIECES = 100
"""What may still lie in a parser when a connection is closed: h11 holds 64 KiB."""

# names of classes: of httpx, then of aiohttp, then Python's own
_CONNECT_TIMEOUTS = frozenset({"ConnectTimeout", "ConnectionTimeoutError", "PoolTimeout"})
_TIMEOUTS = frozenset({"TimeoutException", "ServerTimeoutError", "TimeoutError"})
_CONNECT_FAILURES = frozenset({"ConnectError", "ClientConnectorError", "ProxyError"})
_FAILURES = frozenset({"TransportError", "ClientError", "OSError"})
_serial = count()


class LoopClient:
    """One HTTP client for each event loop, made when first asked for, closed by `aclose` or with its loop."""

    def __init__(self) -> None:
        # anyio before 4.11 keys its variables by name
        self._held: RunVar[tuple[httpx.AsyncClient, AsyncGenerator[httpx.AsyncClient]] | None] = RunVar(
            f"responses_middleware.client.{next(_serial)}", None
        )

    async def get(self) -> httpx.AsyncClient:
        """The client of the running event loop."""
        held = self._held.get()
        if held is None:
            keeper = _kept_client()
            held = (await anext(keeper), keeper)
            self._held.set(held)
        return held[0]

    async def aclose(self) -> None:
        """Close the client of the running event loop, if there is one."""
        held = self._held.get()
        if held is not None:
            self._held.set(None)
            await held[1].aclose()


async def _kept_client() -> AsyncGenerator[httpx.AsyncClient]:
    """A client that is closed at the latest when its loop ends: asyncio and trio then close their async generators.

    An app that never gets a lifespan (a mounted sub-app, many tests) would otherwise leave an open session behind.
    """
    client = new_client()
    try:
        yield client
    finally:
        await client.aclose()


def new_client() -> httpx.AsyncClient:
    """A client that remembers and queues nothing: on aiohttp if that is installed and asyncio runs, else httpx's own.

    Proxy and netrc settings of the environment are left alone, redirects are answers. Every request gets a connection
    of its own: bytes that an upstream sends after an answer would be read as the answer to the next request. httpcore
    1.0 keeps them in its parser, and aiohttp 3.14 parses them while the connection lies in its pool.
    """
    import httpx

    from .connection import ConnectionPerRequest

    tls = httpx.create_ssl_context(trust_env=False)
    client = httpx.AsyncClient(
        transport=_aiohttp_transport(tls) or ConnectionPerRequest(tls),
        cookies=_no_cookies(),
        trust_env=False,
        follow_redirects=False,
        timeout=None,
    )
    client.headers.clear()  # no accept-encoding, no accept, no user-agent in the name of the client
    return client


def _no_cookies() -> httpx.Cookies:
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx

    cookies = httpx.Cookies()
    cookies.jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))  # accepts from none, returns to none
    return cookies


def _aiohttp_transport(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport | None:
    try:
        import aiohttp
        from httpx_aiohttp import AiohttpTransport
    except ImportError:
        return None
    try:
        # limit=0 is no limit; otherwise it is 100 requests, whatever the limits of httpx say
        connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=tls)
    except RuntimeError:  # no asyncio loop: trio runs
        return None
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),  # a jar of its own, which the httpx client's policy does not reach
        auto_decompress=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        # force_close would say `close`: a server that refuses a body unread then resets the connection, and the reset
        # overtakes its 401
        headers={"Connection": "keep-alive"},
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
    )
    # aiohttp asks a GET a second time when the server hangs up, and has no public switch for it
    session._retry_connection = False  # noqa: SLF001
    transport: httpx.AsyncBaseTransport = AiohttpTransport(verify=tls, client=session)
    return transport


async def read(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The bytes of an answer as they come, content encodings not undone.

    Only reading is inside: what the reader of this generator raises is never taken for an error of the transport.

    Raises:
        UpstreamConnectionError: the connection broke before the end of the body.
        UpstreamTimeoutError: a gap was longer than the request's read timeout.
    """
    # not aiter_raw: it refuses the ready-made answers of httpx.MockTransport, and is one generator more
    pieces: AsyncIterator[bytes] = aiter(response.stream)  # type: ignore[arg-type]
    try:
        async for data in pieces:
            if data:
                yield data
    except GeneratorExit:  # the reader has enough
        await close(response)
        await _exhaust(pieces)
        raise
    except Exception as error:  # as in http.py: what is no error of a transport goes on as it is
        if rest := _kept_back(response):
            yield rest
        raise_upstream_error(error)


def _kept_back(response: httpx.Response) -> bytes:
    """What aiohttp 3.14 has read of an answer that broke and does not give: StreamReader raises before it looks into
    its buffer. Under back-pressure that is much of what was said before the accident; httpcore loses nothing."""
    stream = getattr(response.stream, "_stream", None)
    reader = getattr(getattr(stream, "_aiohttp_response", None), "content", None)
    pieces: Iterable[bytes] = getattr(reader, "_buffer", ())
    return b"".join(pieces)[getattr(reader, "_buffer_offset", 0) :]


async def _exhaust(pieces: AsyncIterator[bytes]) -> None:
    """Let the generators inside httpx end, now that their connection is closed: trio warns of abandoned ones."""
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        try:
            for _ in range(MAX_BUFFERED_PIECES):
                await anext(pieces)
        except Exception as error:  # reading on after a closed connection fails in every way; nobody wants the rest
            _forget_frames(error)


def _forget_frames(error: BaseException | None) -> None:
    """Cut an error off from the frames it went through.

    aiohttp 3.14 keeps the error of a closed connection in the reader that those frames hold, in a circle which Python's
    garbage collector does not see: 8 KiB for every answer that was not read to its end.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


async def close(response: httpx.Response) -> None:
    """Close an answer, read or not, and with it its connection; also while the task is being cancelled."""
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        try:
            await response.aclose()
        except Exception as error:  # a connection that can't be closed any more is closed; others go on
            if _upstream_error(error) is None:
                raise


def raise_upstream_error(error: Exception) -> NoReturn:
    """Raise the UpstreamError that says what an error of the HTTP client means; anything else is raised as it is.

    The messages name neither host nor URL nor key; the cause does.
    """
    upstream_error = _upstream_error(error)
    if upstream_error is None:
        raise error
    raise upstream_error from error


def _class_names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _upstream_error(error: BaseException) -> UpstreamError | None:
    names = _class_names(error)
    if error.__cause__ is not None and "ClientError" in (below := _class_names(error.__cause__)):
        names = below  # aiohttp's own: httpx-aiohttp 0.2 says ConnectTimeout when the server closes the connection
    if names & _CONNECT_TIMEOUTS:
        return UpstreamTimeoutError("could not connect to the upstream in time")
    if names & _TIMEOUTS:
        return UpstreamTimeoutError("the upstream did not answer in time")
    if names & _CONNECT_FAILURES:
        return UpstreamConnectionError("could not connect to the upstream")
    if names & _FAILURES:
        return UpstreamConnectionError("the connection to the upstream broke")
    return None
