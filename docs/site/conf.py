# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration of the site. `make docs` runs it over the folder that docs/site/stage.py has filled."""

import os

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "iocomp"
author = "The iocomp developers"
project_copyright = "2026, The iocomp developers"
release = version = os.environ["IOCOMP_SITE_VERSION"]

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # code with "…" in it stays plain

html_theme = "furo"
html_title = f"iocomp {version}"
html_show_sphinx = False
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Diagrams stay text: to draw them takes a program from elsewhere in every reader's browser."""
    app.add_lexer("mermaid", TextLexer)
