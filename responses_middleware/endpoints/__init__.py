"""One file per endpoint; `request_body`, `pages` and `stored` hold what they share."""

from __future__ import annotations
