"""Sweeps: --sweep key=a,b,c taken apart, and the product of several."""
import itertools
import json

from problem import Problem

MOST_RUNS = 10000


def split(text):
    """The values of 'a,b,c'. A comma within [], {} or double quotes separates nothing; blanks around a value are left out."""
    values, depth, quoted, begin, k = [], 0, False, 0, 0
    while k < len(text):
        c = text[k]
        if quoted:
            if c == "\\":
                k += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "[{":
            depth += 1
        elif c in "]}":
            depth -= 1
            if depth < 0:
                raise Problem("'%s' closes a bracket that it does not open" % text)
        elif c == "," and depth == 0:
            values.append(text[begin:k].strip())
            begin = k + 1
        k += 1
    if depth or quoted:
        raise Problem("'%s' opens a %s that it does not close; a value that has one of its own is written as a JSON string, in double quotes"
                      % (text, "quote" if quoted else "bracket"))
    return values + [text[begin:].strip()]


def meaning(value):
    """What two values have in common that mean the same to the scene: 0.1 and 1e-1."""
    try:
        return json.dumps(json.loads(value), sort_keys=True)
    except ValueError:
        return json.dumps(value)


def read(option):
    """'key=a,b' -> (key, values)"""
    key, equals, text = option.partition("=")
    key = key.strip()
    if not equals or not key:
        raise Problem("--sweep needs a key of the scene and values: --sweep contact.friction=0.1,0.2, not '%s'" % option)
    try:
        values = split(text)
    except Problem as problem:
        raise Problem("--sweep %s: %s" % (key, problem)) from None
    if "" in values:
        raise Problem("--sweep %s has an empty value; an empty string is written as \"\"" % key)
    known = set()
    for value in values:
        if meaning(value) in known:
            raise Problem("--sweep %s has the value %s twice" % (key, value))
        known.add(meaning(value))
    return key, values


def product(options, fixed):
    """The runs of a sweep: parameters, and the values of each run. fixed: the keys that --set gives."""
    axes, runs = [read(option) for option in options], 1
    keys = [key for key, _ in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise Problem("--sweep names %s twice; give all its values at once" % key)
        if key in fixed:
            raise Problem("%s is given by --set and by --sweep; leave one of them out" % key)
    for _, values in axes:
        runs *= len(values)
    if runs > MOST_RUNS:
        raise Problem("the sweep has %d runs; %d are the most" % (runs, MOST_RUNS))
    return keys, list(itertools.product(*(values for _, values in axes)))
