#!/usr/bin/python3
"""search.py: the site of the documents is built without a warning and without a link that leads nowhere, and its search, opened from a folder, finds
what readers look for.  The search is tried in a browser (chromium, by selenium), or else by nodejs.  Skipped (77) where Sphinx, MyST and furo
are not installed, or neither a browser nor nodejs is.

If it fails, a reader looks for a word that the documents explain and finds nothing, or jobs/docs ends with an error."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ["TACTUS_SOURCE"]
# What is looked for, and a page that must be among those found.
WORDS = {"capstan": "how-to/measure-forces.html", "requeue": "how-to/cluster-jobs.html", "kappa": "how-to/choose-thickness-and-stiffness.html"}
NOWHERE = "quokkaquince"
NODE = r"""
const fs = require("fs"), vm = require("vm"), folder = process.argv[2];
const page = { console, document: { documentElement: { dataset: {} }, addEventListener: () => {} }, window: {}, _ready: () => {}, DOCUMENTATION_OPTIONS: {}, Stemmer: null };
vm.createContext(page);
const read = (name) => fs.readFileSync(folder + "/" + name, "utf8");
vm.runInContext(read("_static/language_data.js") + read("_static/searchtools.js") + read("searchindex.js") +
  ";result = (word) => { const stem = new Stemmer().stemWord(word.toLowerCase());" +
  "return Search.performTermsSearch(new Set([stem]), new Set(), Search._index.terms, Search._index.titleterms).map((r) => r[0] + '.html'); }", page);
console.log(JSON.stringify(Object.fromEntries(process.argv.slice(3).map((word) => [word, page.result(word)]))));
"""


def by_browser(folder, words):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + os.path.join(os.path.dirname(os.path.dirname(folder)), "profile")):
        options.add_argument(argument)
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        found = {}
        for word in words:
            browser.get(f"file://{folder}/search.html?q={word}")
            until = time.monotonic() + 30
            while not browser.find_elements("css selector", "#search-results p.search-summary") or \
                    "Search" == browser.find_element("css selector", "#search-results p.search-summary").text.strip(" .") or \
                    not any(t in browser.find_element("css selector", "#search-results").text for t in ("found", "did not match")):
                if time.monotonic() > until:
                    sys.exit(f"the search for {word} does not end: {browser.find_element('css selector', 'body').text[:2000]}")
                time.sleep(0.05)
            time.sleep(0.3)  # results come one by one
            links = browser.find_elements("css selector", "#search-results ul.search li a")
            found[word] = [os.path.relpath(a.get_attribute("href").split("?")[0].split("#")[0][len("file://"):], folder) for a in links]
        return found
    finally:
        browser.quit()


def by_node(folder, words):
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write(NODE)
        script.flush()
        done = subprocess.run(["nodejs", script.name, folder, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit("nodejs: " + done.stderr)
    return json.loads(done.stdout)


def main(home):
    missing = [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]
    browser = all(os.path.exists(p) for p in ("/usr/bin/chromium", "/usr/bin/chromedriver")) and importlib.util.find_spec("selenium") is not None
    if missing or not browser and shutil.which("nodejs") is None:
        print("skipped: %s; jobs/lib/install docs (and browser) installs it" % (", ".join(missing) + " is missing" if missing else "there is neither a browser nor nodejs"))
        return 77
    begin = time.monotonic()
    done = subprocess.run(["/usr/bin/python3", "-B", SOURCE + "/jobs/lib/docs_site.py", "--pages", "-o", home + "/site"], capture_output=True, text=True)
    print((done.stdout + done.stderr).strip(), "(%.1f s)" % (time.monotonic() - begin))
    if done.returncode:
        return 1
    words = [*WORDS, NOWHERE]
    ways = {"browser": by_browser} if browser else {}
    if shutil.which("nodejs"):
        ways["nodejs"] = by_node
    wrong = 0
    for name, way in ways.items():
        found = way(home + "/site/html", words)
        for word, page in WORDS.items():
            if page not in found[word]:
                print(f"FAILS: {name}: {word} is found in {found[word]}, and not in {page}")
                wrong += 1
        if found[NOWHERE]:
            print(f"FAILS: {name}: {NOWHERE}, which no page has, is found in {found[NOWHERE]}")
            wrong += 1
        print(name, {word: len(pages) for word, pages in found.items()}, "(%.1f s)" % (time.monotonic() - begin))
    return 1 if wrong else 0


with tempfile.TemporaryDirectory() as folder:
    code = main(folder)
sys.exit(code)
