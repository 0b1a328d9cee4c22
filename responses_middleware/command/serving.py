"""Serving an ASGI app with uvicorn for the commands: the socket, the server, the logs.

uvicorn comes with the extra `cli` and is imported only here and in `server`, and only when it is needed.
"""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn
    from starlette.types import ASGIApp

    from ..options import Limits

LOG_LEVELS = ("debug", "info", "warning", "error")

REFUSED = "ASGI callable returned without completing handshake."
"""What uvicorn 0.54 logs as an error for every WebSocket that was refused properly, with a status."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where it listens (`base`, as in the line that says so) and where a client on this machine finds it (`local`)."""

    base: str
    local: str

    @classmethod
    def of(cls, listener: socket.socket, host: str, prefix: str) -> Place:
        address, port = listener.getsockname()[:2]
        host = host or address  # "" is every address
        path = "/" + prefix.strip("/") if prefix.strip("/") else ""
        near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        base, local = (f"http://{f'[{name}]' if ':' in name else name}:{port}{path}" for name in (host, near))
        return cls(base=base, local=local)


def require_uvicorn() -> None:
    """Raise ConfigurationError with the remedy where the server is not installed."""
    try:
        import uvicorn  # noqa: F401
    except ImportError:
        raise ConfigurationError("uvicorn is not installed: pip install 'uvicorn[standard]'") from None


def listen(host: str, port: int) -> socket.socket:
    """A bound socket (port 0: any free port); OSError if the address is taken or unknown."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere the option would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def serve(
    app: ASGIApp,
    listener: socket.socket,
    limits: Limits,
    log_level: str,
    on_listening: Callable[[Callable[[], None]], None],
) -> int:
    """Serve until a signal, and return the exit status.

    `on_listening` is called once connections are accepted, with a function that stops the server, from any thread.
    """
    from .server import Server

    set_up_logging(log_level)
    server = Server(server_config(app, limits, log_level), grace=limits.grace, on_listening=on_listening)
    try:
        server.run(sockets=[listener])
    except SystemExit:  # the app refused to start; uvicorn has logged why
        return 1
    return 0


def server_config(app: ASGIApp, limits: Limits, log_level: str) -> uvicorn.Config:
    """How uvicorn serves `app`."""
    import uvicorn

    return uvicorn.Config(
        app,
        access_log=log_level == "debug",
        lifespan="on",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(limits.grace)),
        ws_max_size=limits.max_request_bytes,
    )


def set_up_logging(log_level: str) -> None:
    """Our loggers at `log_level`; the server's and all others only from warnings on, unless everything is wanted."""
    level = logging.getLevelNamesMapping()[log_level.upper()]
    others = level if log_level == "debug" else max(level, logging.WARNING)
    logging.basicConfig(level=max(level, logging.WARNING), format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("responses_middleware").setLevel(level)
    logging.getLogger("uvicorn").setLevel(others)
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != REFUSED)
