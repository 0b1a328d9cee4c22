"""How long the properties are tried: a short profile in every run of the suite, a long one at night.

HYPOTHESIS_PROFILE=nightly scripts/test tests/property
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("suite", max_examples=300, deadline=None, suppress_health_check=_slow)
settings.register_profile("thorough", max_examples=3000, deadline=None, suppress_health_check=_slow)
settings.register_profile("nightly", max_examples=50_000, deadline=None, suppress_health_check=_slow, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
