"""The site of the documents; jobs/docs runs Sphinx with it, on a copy of docs/ in build/docs/source."""
import logging
import os
import re
import sys

sys.path.insert(0, os.environ["TACTUS_PYTHON"])  # src/python, for autodoc
project = "Tactus"
author = "The developers of Tactus"
copyright = "the developers of Tactus, Apache License 2.0"
version = release = os.environ["TACTUS_VERSION"]
extensions = ["myst_parser"]
if os.environ.get("TACTUS_DOXYGEN"):
    extensions += ["breathe", "sphinx.ext.autodoc"]
    breathe_projects = {"tactus": os.environ["TACTUS_DOXYGEN"]}
    breathe_default_project = "tactus"
    breathe_domain_by_extension = {"h": "c"}
    autodoc_default_options = {"members": True, "undoc-members": False, "member-order": "bysource"}
    autodoc_typehints = "none"
root_doc = "index"
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
highlight_language = "none"
smartquotes = False
html_theme = "furo"
html_title = "Tactus"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"top_of_page_button": None}


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text: lines stay lines, and examples are shown as they stand."""
    out, code = [], False
    for line in lines:
        if line.lstrip().startswith(">>>") and not code:
            code = True
            out += ["", "::", ""]
        elif code and not line.strip():
            code = False
        if code:
            out.append("    " + line)
        elif not line.strip():
            out.append("")
        else:
            text = re.sub(r"([\\*_|<>])", r"\\\1", line.strip())
            text = re.sub(r"`([^`]+)`", lambda m: "``" + m[1].replace("\\", "") + "``", text)
            out.append("| " + "   " * ((len(line) - len(line.lstrip())) // 4) + text)
    lines[:] = out


def both(record):
    """C keeps names of structs apart from names of functions; Sphinx 5 does not, and warns where one name is of both."""
    return "Duplicate C declaration" not in record.getMessage()


def setup(app):
    if os.environ.get("TACTUS_DOXYGEN"):
        app.connect("autodoc-process-docstring", plain)
    logging.getLogger("sphinx.sphinx.domains.c").addFilter(both)
