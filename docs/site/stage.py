#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fill the folder from which Sphinx makes the site: the pages as they are, and the reference.

Usage: stage.py <folder> <the command iocomp> <list of chapters>

The reference is made here: the calls from include/iocomp/iocomp.h and the module of Fortran, the command from its own
--help. Sphinx makes that of Python from its docstrings. The rest of the folder is laid out as the repository is, so links between pages work in both. A file that a page links to is copied too.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from fortran_calls import calls_of  # noqa: E402
from interface import entries_of, introduction_of  # noqa: E402

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = "```"
OF_PYTHON = f"""# The package of Python

Made from its docstrings. [The guide](../docs/python.md) begins with a program.

{FENCE}{{eval-rst}}
.. automodule:: iocomp
   :members:
   :imported-members:
{FENCE}
"""


def paragraphs(text: str) -> str:
    """Return a comment as Markdown: parameters become a list, the result a line of its own."""
    text = re.sub(r"@(?:param)\s+([\w, ]+?)(?:  +|\s*\n\s*)", r"\n@param \1\n", text)
    lines: list[str] = []
    for part in re.split(r"\n?(?=@param |@return |Cost: )", text):
        flat = part.strip()
        if flat.startswith("@param "):
            names, _, meaning = flat.partition("\n")
            lines.append(f"- **`{names.removeprefix('@param ').strip()}`** {' '.join(meaning.split())}")
        elif flat.startswith("@return"):
            lines.append(f"\n**Returns** {' '.join(flat.removeprefix('@return').split())}\n")
        elif flat.startswith("Cost:"):
            lines.append(f"\n**Cost:** {' '.join(flat.removeprefix('Cost:').split())}\n")
        elif flat:
            lines.append(flat + "\n")
    return "\n".join(lines).replace("<", "&lt;").replace("*/", "")


def page_of_calls(header: str) -> str:
    """Return the reference of C."""
    entries = entries_of(header)
    about = introduction_of(header)
    text = f"# The calls of C\n\nMade from `include/iocomp/iocomp.h`.\n\n{about}\n"
    for title, kind in (("Calls", "call"), ("Types and constants", "type")):
        text += f"\n## {title}\n"
        for entry in entries:
            if entry.kind == kind:
                text += f"\n### {entry.name}\n\n{FENCE}c\n{entry.declaration}\n{FENCE}\n\n"
                text += paragraphs(entry.text)
    return text


def page_of_fortran(module: str, of_c: str) -> str:
    """Return the reference of Fortran. What a call does stands in that of C."""
    text = "# The calls of Fortran\n\nMade from `bindings/fortran/iocomp.f90`. [The guide](../docs/fortran.md) says what differs.\n"
    text += "\n## Calls\n"
    for name, forms in calls_of(module).items():
        shown = forms if len(forms) <= 2 else forms[:1]
        text += f"\n### {name}\n\n{FENCE}fortran\n" + "\n".join(each for each, _ in shown) + f"\n{FENCE}\n\n"
        if len(shown) < len(forms):
            text += f"There are {len(forms) - 1} more forms, for arrays of other types.\n\n"
        text += paragraphs(forms[0][1])
        if f"### {name}\n" in of_c:
            text += f"\n[What it does](c.md#{name}), and which ranks call it.\n"
    return text


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.rstrip()


def page_of_command(command: str) -> str:
    """Return the reference of the command: what each of its subcommands says of itself."""
    overview = said(command, "--help")
    names = said(command, "complete", "").split()
    text = f"# The command iocomp\n\nMade from its `--help`.\n\n{FENCE}text\n{overview}\n{FENCE}\n"
    for name in names:
        text += f"\n## iocomp {name}\n\n{FENCE}text\n{said(command, name, '--help')}\n{FENCE}\n"
    return text


def table_of(chapters: list[dict]) -> str:
    """Return the tables of contents of the first page."""
    text = ""
    for chapter in chapters:
        text += f"{FENCE}{{toctree}}\n:hidden:\n:caption: {chapter['title']}\n\n"
        text += "\n".join(chapter["pages"]) + f"\n{FENCE}\n\n"
    return text


def expand(chapters: list[dict]) -> None:
    """Put the pages of the repository that no chapter names in the place of patterns."""
    named = {page for chapter in chapters for page in chapter["pages"]}
    for chapter in chapters:
        pages: list[str] = []
        for page in chapter["pages"]:
            found = sorted(ROOT.glob(f"{page}.md")) if "*" in page else []
            names = [str(path.relative_to(ROOT).with_suffix("")) for path in found] or [page]
            pages += [name for name in names if name == page or name not in named]
            named.update(names)
        chapter["pages"] = pages


def linked_from(page: Path) -> list[Path]:
    """Return the files of the repository that a page links to or shows."""
    text = (ROOT / page).read_text()
    files = []
    for target in LINK.findall(text) + IMAGE.findall(text):
        path = ((ROOT / page).parent / target).resolve()
        if "://" not in target and path.is_file():
            files.append(path.relative_to(ROOT))
    return files


def copy_pages(pages: list[Path], folder: Path) -> None:
    """Copy pages and what they link to. A page that is linked and in no chapter has no place in the contents."""
    known = set(pages)
    waiting = list(pages)
    while waiting:
        page = waiting.pop()
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / page, folder / page)
        if page.suffix != ".md":
            continue
        without_folders(page, folder)
        if page not in pages:
            (folder / page).write_text("---\norphan: true\n---\n" + (folder / page).read_text())
        new = [each for each in linked_from(page) if each not in known]
        known |= set(new)
        waiting += new


def without_folders(page: Path, folder: Path) -> None:
    """Replace links to folders of the repository, which a site does not have, by their words."""
    place = folder / page

    def words(found: re.Match) -> str:
        target = found[1]
        path = ((ROOT / page).parent / target).resolve()
        return found[0][1 : found[0].index("](")] if path.is_dir() else found[0]

    place.write_text(LINK.sub(words, place.read_text()))


def main() -> int:
    """Fill the folder."""
    missing = [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]
    if missing or shutil.which("dot") is None:
        raise SystemExit(f"the site needs {', '.join([*missing, 'dot'])}: tools/install-dependencies docs")
    folder, command, list_of_chapters = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    chapters = tomllib.loads(list_of_chapters.read_text())["chapter"]
    expand(chapters)
    shutil.rmtree(folder, ignore_errors=True)
    reference = folder / "reference"
    reference.mkdir(parents=True)
    header = (ROOT / "include/iocomp/iocomp.h").read_text()
    of_c = page_of_calls(header)
    (reference / "c.md").write_text(of_c)
    module = (ROOT / "bindings/fortran/iocomp.f90").read_text()
    (reference / "fortran.md").write_text(page_of_fortran(module, of_c))
    (reference / "python.md").write_text(OF_PYTHON)
    cpp = (ROOT / "include/iocomp/iocomp.hpp").read_text()
    about = "The same calls with spans and exceptions. The header is short, so it is its own reference."
    (reference / "cpp.md").write_text(f"# C++\n\n{about}\n\n{FENCE}cpp\n{cpp}\n{FENCE}\n")
    (reference / "command.md").write_text(page_of_command(command))
    readme = (ROOT / "README.md").read_text()
    names = [page for chapter in chapters for page in chapter["pages"]]
    copy_pages([Path(f"{name}.md") for name in names if not name.startswith("reference/")], folder)
    for image in IMAGE.findall(readme):
        (folder / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / image, folder / image)
    index = (ROOT / "docs/site/index.md").read_text().replace("](../", "](docs/")
    for begin, end in (("![", "## Try it"), ("## In a program", "## Install it")):
        part = readme[readme.index(begin) : readme.index(end)]
        index = index.replace(f"<!-- README: {begin} -->\n", part)
    (folder / "index.md").write_text(index + table_of(chapters))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
