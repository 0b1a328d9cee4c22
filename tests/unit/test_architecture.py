"""The laws of the package, read from its imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "responses_middleware"
NAME = "responses_middleware"

CORE = {"protocol", "dialects", "translate", "stream", "errors", "_json"}
FAST_CODEC = ("_json", "orjson")  # the one door
IMPURE = {"asyncio", "time", "datetime", "random", "secrets", "uuid", "threading", "socket", "ssl", "os", "subprocess"}

# Every room may import those below it, in other lines, and itself; a room beside it, never.
LAYERS: list[set[str]] = [
    {"__init__", "__main__", "middleware", "proxy", "cli", "command", "lifespan", "construction"},
    {"endpoints"},
    {"engine"},
    {"tools", "state", "upstream"},
    {"replies"},
    {"stream"},
    {"translate"},
    {"dialects"},
    {"protocol"},
    {"options", "content_coding"},
    {"errors", "_json"},
]
TOP = LAYERS[0]
SHARED_BY_ENDPOINTS = {"request_body", "pages", "stored"}

LONGEST_MODULE = 450  # lines
LONGEST_FUNCTION = 50  # signature and docstring included


@dataclass(frozen=True)
class Import:
    """`module` imports `target`, both as paths in the package, or `target` a module of another one."""

    module: str
    target: str
    is_ours: bool

    @property
    def room(self) -> str:
        return self.module.split(".")[0]

    @property
    def target_room(self) -> str:
        return self.target.split(".")[0]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(path: Path) -> str:
    """`engine/turns.py` → `engine.turns`; a package is named without its `__init__`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def package_of(path: Path) -> list[str]:
    return list(path.relative_to(PACKAGE).parts[:-1])


def imports() -> Iterator[Import]:
    """Every import, also those for type checkers and those inside functions."""
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                yield from (_import(path, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from _imports_from(path, node)


def _imports_from(path: Path, node: ast.ImportFrom) -> Iterator[Import]:
    if node.level == 0:
        yield _import(path, node.module or "")
        return
    package = package_of(path)
    base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
    rooms = {dotted(path).split(".")[0] for path in modules()}
    for alias in node.names:  # `from .. import _json` is a module, `from . import Limits` a name of the package itself
        yield Import(dotted(path), ".".join(base) or (alias.name if alias.name in rooms else "__init__"), is_ours=True)


def _import(path: Path, name: str) -> Import:
    ours = name == NAME or name.startswith(NAME + ".")
    target = name.removeprefix(NAME).lstrip(".") or "__init__" if ours else name
    return Import(dotted(path), target, is_ours=ours)


IMPORTS = list(imports())


def test_the_imports_are_found() -> None:
    assert Import("engine.turns", "upstream.base", is_ours=True) in IMPORTS
    assert Import("errors", "typing", is_ours=False) in IMPORTS
    assert len(IMPORTS) > 200


def test_the_core_imports_only_the_standard_library_and_itself() -> None:
    foreign = {
        (found.module, found.target)
        for found in IMPORTS
        if found.room in CORE
        and (found.target_room not in CORE if found.is_ours else found.target_room not in sys.stdlib_module_names)
    }

    assert foreign == {FAST_CODEC}


def test_the_core_has_no_clock_no_chance_and_no_io() -> None:
    assert [
        found for found in IMPORTS if found.room in CORE and not found.is_ours and found.target_room in IMPURE
    ] == []


def test_the_core_has_nothing_async() -> None:
    kinds = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
    found = [
        f"{dotted(path)}:{node.lineno}"
        for path in modules()
        if dotted(path).split(".")[0] in CORE
        for node in ast.walk(tree(path))
        if isinstance(node, kinds)
    ]

    assert found == []


def test_every_room_has_its_layer() -> None:
    rooms = {dotted(path).split(".")[0] for path in modules()}

    assert rooms <= set().union(*LAYERS)


def test_arrows_point_down() -> None:
    layer = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
    up = [
        f"{found.module} → {found.target}"
        for found in IMPORTS
        if found.is_ours
        and found.room != found.target_room
        and not (found.room in TOP and found.target_room in TOP)
        and layer[found.target_room] <= layer[found.room]
    ]

    assert up == []


def test_no_endpoint_imports_another() -> None:
    sideways = [
        f"{found.module} → {found.target}"
        for found in IMPORTS
        if found.is_ours
        and found.room == found.target_room == "endpoints"
        and found.module.split(".")[-1] not in SHARED_BY_ENDPOINTS
        and found.target.split(".")[-1] not in SHARED_BY_ENDPOINTS
    ]

    assert sideways == []


def test_nothing_imports_asyncio() -> None:
    assert [found.module for found in IMPORTS if found.target_room in ("asyncio", "trio")] == []


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_no_module_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_no_function_is_too_long(path: Path) -> None:
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {node.name: _lines(node) for node in functions if _lines(node) > LONGEST_FUNCTION}

    assert long == {}


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1
