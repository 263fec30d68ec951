"""Sphinx's configuration for the documentation: ``make docs``, then open docs/out/index.html."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

project = "halide_core"
author = "The halide_core authors"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["out"]
html_theme = "alabaster"
html_theme_options = {"description": "A Halide in Python", "page_width": "1100px", "fixed_sidebar": True}

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {
    "members": True,
    "inherited-members": "IntEnum,Enum,Exception,int,object",  # but not theirs
    "show-inheritance": True,
}
