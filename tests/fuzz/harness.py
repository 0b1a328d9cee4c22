"""What the fuzz targets share: how they are run, and what follows from an input.

A target is a module with `one_input(data)`, which raises for what must not be. `scripts/fuzz` runs it under atheris;
`test_corpus.py` runs it over the seeds, without.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# For sse_events.py. pytest has this folder on the path, atheris runs a target without pytest.
sys.path.append(str(Path(__file__).parents[1]))


def instrumented() -> Any:
    """Import the package below this, so that atheris sees which branches an input reaches."""
    import atheris  # in a virtual environment of its own: see scripts/fuzz

    return atheris.instrument_imports(include=["responses_middleware"])


def fuzz(one_input: Callable[[bytes], None]) -> None:
    import atheris

    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


class Choices:
    """Choices that follow from the input, so that a seed is a plain file: the bytes that a server sends."""

    def __init__(self, data: bytes) -> None:
        self._number = zlib.crc32(data)

    def of(self, *values: Any) -> Any:
        self._number, place = divmod(self._number, len(values))
        return values[place]


def pieces(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size)) if size else (data,)


@contextmanager
def slow_codec(module: Any) -> Iterator[None]:
    """The standard library's codec instead of orjson."""
    kept = module.loads, module.dumps
    module.loads, module.dumps = module._stdlib_loads, module._stdlib_dumps
    try:
        yield
    finally:
        module.loads, module.dumps = kept
