"""`python -m responses_middleware` is the command `responses-middleware`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
