"""jobs/docs: the site of the documents.  Copies docs/ into FOLDER/source, adds tables of contents and the pages that are made of C headers and
Python modules, has Doxygen and Sphinx build FOLDER/html, and checks every link of that."""
import argparse
import glob
import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# Pages from outside of docs/, and their names in the site.
OUTSIDE = {"README.md": "project/readme.md", "CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changelog.md",
           "SECURITY.md": "project/security.md", "tests/README.md": "project/tests.md"}
# Pages of docs/reference that are made here.
MADE = ("c-headers.md", "python-modules.md")


def stop(text):
    sys.exit("docs: " + text)


def place(path):
    """Where the site has a file of the repository: a path in the source folder, or None."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/") and os.path.isfile(os.path.join(ROOT, path)):
        return path[len("docs/"):]
    return None


def adapted(page, text):
    """Text of a page with links that fit its place in the site; what the site does not have is named without a link."""
    here = os.path.dirname(place(page))

    def target(link):
        path, _, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if os.path.basename(path) in MADE:
            return os.path.relpath(path[len("docs/"):-3] + ".rst", here)
        there = place(path)
        return there and os.path.relpath(there, here) + ("#" + anchor if anchor else "")

    def link(match):
        new = target(match[2])
        return f"[{match[1]}]({new})" if new else f"{match[1]} (`{os.path.normpath(os.path.join(os.path.dirname(page), match[2]))}`)"

    parts = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.S | re.M)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)", link, parts[k])
        parts[k] = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", lambda m: f"![{m[1]}]({target(m[2])})", parts[k])
        parts[k] = re.sub(r'(<img src=")([^"]+)"', lambda m: m[1] + target(m[2]) + '"', parts[k])
    return "".join(parts)


def contents(page, text):
    """An index with its links as tables of contents, one for each heading."""
    out = [text]
    for part in re.split(r"^## ", text, flags=re.M)[1 if page == "docs/index.md" else 0:]:
        links = [m[1] for m in re.finditer(r"^\* .*?\]\(([^)#]+)\)", part, re.M)]
        caption = f":caption: {part.splitlines()[0]}\n" if page == "docs/index.md" else ""
        out.append("```{toctree}\n:hidden:\n:maxdepth: 1\n" + caption + "\n" + "\n".join(links) + "\n```")
    return "\n\n".join(out) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def prepare(source, whole):
    shutil.rmtree(source, ignore_errors=True)
    pages = sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs/**/*"), recursive=True) if os.path.isfile(p))
    for page in pages + list(OUTSIDE):
        there = place(page)
        if page.startswith("docs/site/") or "__pycache__" in page:
            continue
        if not page.endswith(".md"):
            os.makedirs(os.path.dirname(os.path.join(source, there)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, page), os.path.join(source, there))
            continue
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = adapted(page, file.read())
        if page in ("docs/index.md", "docs/lab/index.md"):
            text = contents(page, text)
        if page in ("docs/reference/c-api.md", "docs/reference/python-api.md"):
            text += "\n```{toctree}\n:hidden:\n\n" + ("c-headers" if "c-api" in page else "python-modules") + "\n```\n"
        write(os.path.join(source, there), text)
    headers = sorted(os.path.relpath(h, os.path.join(ROOT, "include")) for h in glob.glob(os.path.join(ROOT, "include/tactus/*.h")))
    for name, title, parts in (("c-headers", "C headers", [(h, f".. doxygenfile:: {h}\n") for h in headers]),
                               ("python-modules", "Python functions", [("tactus", ".. automodule:: tactus\n")])):
        text = f"{title}\n{'=' * len(title)}\n\n"
        if whole:
            text += "\n".join(f"{head}\n{'-' * len(head)}\n\n{body}" for head, body in parts)
        else:
            text += "This build of the site leaves this page out; ``jobs/docs`` makes all of it.\n"
        write(os.path.join(source, "reference", name + ".rst"), text)


def commented(text):
    """A header with its comments in Doxygen's form, those before a declaration and those behind a field, and without words for the compiler."""
    text = re.sub(r"\s*__attribute__\(\(\w+(?:\([^()]*\))?\)\)|^TAC_NORETURN ", "", text, flags=re.M)
    text = re.sub(r"^([^\n/]*[;,{][ \t]*)/\* ", r"\1/**< ", text, flags=re.M)
    text = re.sub(r"\A/\* ", "/** @file\n * ", text)
    text = re.sub(r"^([ \t]*)/\* (?!-)", r"\1/** ", text, flags=re.M)
    # Lines of use, indented within a comment, stay lines.
    return re.sub(r"(?:^ \*     .*\n|^ \*\n(?= \*     ))+", lambda m: " *\n@verbatim\n" + re.sub(r"^ \* ?", "", m[0], flags=re.M) + "@endverbatim\n", text, flags=re.M)


def run(what, command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    said = (done.stdout + done.stderr).strip()
    if done.returncode:
        stop(f"{what} failed:\n{said[-6000:]}")
    return said


def doxygen(folder):
    headers = os.path.join(folder, "headers/tactus")
    shutil.rmtree(os.path.join(folder, "headers"), ignore_errors=True)
    for path in glob.glob(os.path.join(ROOT, "include/tactus/*.h")):
        with open(path, encoding="utf-8") as file:
            write(os.path.join(headers, os.path.basename(path)), commented(file.read()))
    settings = {"INPUT": headers, "STRIP_FROM_PATH": os.path.join(folder, "headers"), "OUTPUT_DIRECTORY": folder, "GENERATE_XML": "YES", "GENERATE_HTML": "NO",
                "GENERATE_LATEX": "NO", "OPTIMIZE_OUTPUT_FOR_C": "YES", "EXTRACT_ALL": "YES", "JAVADOC_AUTOBRIEF": "YES", "QUIET": "YES", "WARN_AS_ERROR": "YES",
                "MARKDOWN_SUPPORT": "NO", "AUTOLINK_SUPPORT": "NO"}
    run("Doxygen", ["doxygen", "-"], input="".join(f"{key} = {value}\n" for key, value in settings.items()))
    return os.path.join(folder, "xml")


class Page(html.parser.HTMLParser):
    """What a page links to, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.foreign = [], set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(v for v in (values.get("id"), values.get("name")) if v)
        for key in ("href", "src"):
            if values.get(key):
                self.links.append(values[key])
                if tag in ("script", "img", "iframe") or tag == "link" and values.get("rel") in ("stylesheet", "preload"):
                    self.foreign += [values[key]] if re.match(r"(https?:)?//", values[key]) else []


def check_links(folder):
    """Every link within the site leads to a file and an anchor that are there, and nothing is loaded from elsewhere."""
    pages = {path: Page(path) for path in glob.glob(os.path.join(folder, "**/*.html"), recursive=True)}
    wrong, count = [], 0
    for path, page in sorted(pages.items()):
        name = os.path.relpath(path, folder)
        wrong += [f"{name} loads {link}, which a folder without a network does not have" for link in page.foreign]
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            there = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
            if not os.path.exists(there):
                wrong.append(f"{name} links to {link}, which does not exist")
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].anchors:
                wrong.append(f"{name} links to {link}, and that page has no such place")
    if wrong:
        stop("links that lead nowhere:\n" + "\n".join(sorted(set(wrong))))
    return len(pages), count


def main():
    p = argparse.ArgumentParser(prog="jobs/docs", description="Builds the site of docs/.")
    p.add_argument("--pages", action="store_true", help="without the pages made of C headers and Python modules, which take longest")
    p.add_argument("-o", metavar="FOLDER", dest="folder", default=os.path.join(ROOT, "build/docs"), help="where it is built (default: build/docs)")
    o = p.parse_args()
    folder = os.path.abspath(o.folder)
    os.makedirs(folder, exist_ok=True)
    prepare(os.path.join(folder, "source"), not o.pages)
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(tactus VERSION ([\d.]+)", file.read())[1]
    more = dict(os.environ, TACTUS_PYTHON=os.path.join(ROOT, "src/python"), TACTUS_VERSION=version, TACTUS_DOXYGEN="" if o.pages else doxygen(folder))
    shutil.rmtree(os.path.join(folder, "html"), ignore_errors=True)
    run("Sphinx", [sys.executable, "-B", "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-d", os.path.join(folder, "doctrees"), "-c", os.path.join(ROOT, "docs/site"),
                   os.path.join(folder, "source"), os.path.join(folder, "html")], env=more)
    pages, links = check_links(os.path.join(folder, "html"))
    print(f"{pages} pages, {links} links within them, no warnings: {os.path.join(folder, 'html/index.html')}")


if __name__ == "__main__":
    main()
