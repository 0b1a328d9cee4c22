"""What the command `responses-middleware` is made of; `cli` puts it together."""

from __future__ import annotations
