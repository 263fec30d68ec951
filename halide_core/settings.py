"""HL_CERTIFY: whether every compile has to come with a certificate.

``HL_CERTIFY=1`` certifies each program before code is made of it; where a claim fails that is a CertificateError.
"""

from __future__ import annotations

import os

from halide_core.errors import HalideError

_MEANING = {"": False, "0": False, "1": True}


def certificates_demanded() -> bool:
    """The setting, read anew each time so that a script can change it. Raises: HalideError for any other value."""
    setting = os.environ.get("HL_CERTIFY", "").strip()
    if setting not in _MEANING:
        raise HalideError(f'HL_CERTIFY="{setting}" has no meaning. It can be 1 (every compile is certified), or 0.')
    return _MEANING[setting]
