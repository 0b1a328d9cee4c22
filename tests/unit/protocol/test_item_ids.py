from __future__ import annotations

import pytest

from responses_middleware.protocol.item_ids import id_prefix
from responses_middleware.protocol.items import ITEMS

NEVER_WRITTEN_HERE = {
    "item_reference",
    "additional_tools",
    "configuration_update",
    "compaction_trigger",
    "mcp_approval_response",
    "program",
    "program_output",
}


@pytest.mark.parametrize("kind", sorted(ITEMS.keys() - NEVER_WRITTEN_HERE))
def test_each_type_of_item_has_a_prefix_of_its_own(kind: str) -> None:
    others = {id_prefix(other) for other in ITEMS.keys() - NEVER_WRITTEN_HERE - {kind}}

    assert id_prefix(kind) not in others | {"item_"}


def test_an_item_of_any_other_type_has_one_too() -> None:
    assert id_prefix("acme:note") == "item_"
