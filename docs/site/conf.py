# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration of the site. `make docs` runs it over the folder that docs/site/stage.py has filled."""

import os
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "bindings/python")]

from diagrams import draw  # noqa: E402

project = "iocomp"
author = "The iocomp developers"
project_copyright = "2026, The iocomp developers"
release = version = os.environ["IOCOMP_SITE_VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "none"  # they stand in the signatures of the sources, and name much that is not ours
autodoc_member_order = "bysource"
default_role = "code"
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


def draw_diagrams(_app: Sphinx, page: nodes.document) -> None:
    """Put a drawing in the place of each diagram that is written in Mermaid."""
    for block in list(page.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            svg = draw(block.astext()).replace("<svg ", '<svg role="img" style="max-width: 100%; height: auto" ', 1)
            block.replace_self(nodes.raw("", f'<div class="diagram">{svg}</div>', format="html"))


def setup(app: Sphinx) -> None:
    """Have the diagrams drawn here: the reader's browser would need a program from elsewhere."""
    app.connect("doctree-read", draw_diagrams)
