#!/usr/bin/python3
"""docs.py PROBE: docs/reference/scene-format.md tells about every key, and its examples and those of docs/reference/materials.md are scenes that the reader takes
without a warning.  If it fails, a user who copies from the reference gets an error, or a key is undocumented."""

import json
import os
import re
import sys

import scenes


def keys(node):
    """Every property name in the schema."""
    if isinstance(node, dict):
        for name, value in node.get("properties", {}).items():
            yield name
        for value in node.values():
            yield from keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys(value)


def words(node):
    """Every value that the schema lists."""
    if isinstance(node, dict):
        yield from (word for word in node.get("enum", []) if isinstance(word, str))
        for value in node.values():
            yield from words(value)
    elif isinstance(node, list):
        for value in node:
            yield from words(value)


def main():
    docs = os.path.join(os.environ["TACTUS_SOURCE"], "docs")
    with open(os.path.join(docs, "reference/scene-format.md")) as file:
        text = file.read()
    with open(os.path.join(docs, "scene.schema.json")) as file:
        schema = json.load(file)
    failures = [f"'{word}' of the schema is not in scene-format.md" for word in sorted(set(keys(schema)) | set(words(schema)))
                if not re.search(rf'(?:[`".]|## ){re.escape(word)}(?:[`"]|\n)', text)]
    with open(os.path.join(docs, "reference/materials.md")) as file:
        examples = re.findall(r"```json\n(.*?)```", text + file.read(), re.S)
    probe = scenes.Probe(sys.argv[1])
    for example, reply in zip(examples, probe.ask(examples)):
        if reply["code"] or reply["warnings"]:
            failures.append(f"an example gives {reply}: {example[:300]}")
    print("\n".join(failures) or f"{len(examples)} examples")
    return 1 if failures or len(examples) < 3 else 0


sys.exit(main())
