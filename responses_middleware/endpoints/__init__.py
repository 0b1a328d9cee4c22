"""One file per endpoint; `exchange`, `pages` and `stored` hold what they share."""

from __future__ import annotations
