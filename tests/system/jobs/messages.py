#!/usr/bin/python3
"""messages.py: the messages in the table of docs/how-to/cluster-jobs.md, Troubleshooting, are messages of the program, of the jobs or of the system.  If
this fails, somebody searches the table for the words on his screen and does not find them."""
import errno
import os
import re
import sys

SOURCE = os.environ["TACTUS_SOURCE"]


def literals():
    """All text of the sources, in which strings that are written in parts are whole."""
    for top, endings in (("src", (".c", ".h")), ("jobs/lib", (".py", ".sh"))):
        for home, _, names in os.walk(os.path.join(SOURCE, top)):
            for name in names:
                if name.endswith(endings):
                    with open(os.path.join(home, name), encoding="utf-8") as file:
                        yield re.sub(r'"\s*\n\s*"', "", file.read())


def main():
    with open(SOURCE + "/docs/how-to/cluster-jobs.md", encoding="utf-8") as file:
        table = file.read().split("## Troubleshooting")[1]
    known = "\n".join(list(literals()) + [os.strerror(code) for code in errno.errorcode])
    rows = [line for line in table.split("\n") if line.startswith("| `")]
    messages = [message for row in rows for message in re.findall(r"`([^`]+)`", row.split("|")[1])]
    missing = [message for message in messages if message not in known]
    for message in missing:
        print("docs/how-to/cluster-jobs.md has a message that nothing says: " + message)
    print("%d messages, %d unknown" % (len(messages), len(missing)))
    return 1 if missing or len(messages) < 10 or "no such message at all" in known else 0


sys.exit(main())
