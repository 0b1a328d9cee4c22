"""The command `responses-middleware URL`: the Responses API on a port, in front of a chat completions URL.

Everything that it says goes to standard error; it listens once `listening on http://HOST:PORT/v1` stands there.
Exit status: 0 (or the signal's) after a stop by a signal, 1 could not listen, 2 wrong usage or configuration.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .command.flags import PROGRAM, build_parser, proxy_options, read_url
from .command.greeting import say, start_lines
from .command.probe import probe
from .command.serving import Place, listen, require_uvicorn, serve
from .errors import ConfigurationError
from .proxy import ResponsesProxy

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (default: those of the process) and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["demo"]:
            from .command.demo import run_demo  # only the demo needs what it imports

            return run_demo(words[1:])
        return run_proxy(words)
    except ConfigurationError as error:
        say(f"{PROGRAM}: error: {error.message}")
        return 2
    except KeyboardInterrupt:
        return 0  # stopped by the user, who needs no traceback to know it


def run_proxy(words: Sequence[str]) -> int:
    """Serve the upstream named in `words` until a signal; returns the exit status, raises ConfigurationError."""
    given = build_parser().parse_args(words)
    base = read_url(given.url)
    options = proxy_options(given, os.environ)
    app = ResponsesProxy(given.url, **options)
    require_uvicorn()
    try:
        listener = listen(given.host, given.port)
    except OSError as error:
        say(f"{PROGRAM}: error: could not listen on {given.host}:{given.port}: {error.strerror or error}")
        return 1
    with listener:
        place = Place.of(listener, given.host, given.prefix)
        found = probe(base, options["api_key"])
        for line in start_lines(place, base, given, found, has_key=options["api_key"] is not None):
            say(line)
        limits = options["limits"]
        return serve(app, listener, limits, given.log_level, lambda _: say(f"listening on {place.base}"))
