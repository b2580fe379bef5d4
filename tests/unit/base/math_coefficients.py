#!/usr/bin/python3
"""Derives every constant of src/base/math.c and prints them as C; with --check FILE, tells whether FILE has them.

The polynomials are minimax (Remez's exchange in 70 digits) for the relative error of the function they complete; the
parts of pi/2 and ln 2 are cut to few bits so that a product with a small integer is exact.
"""
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 70


def series(first, ratio):
    """Sum of terms first, first * ratio(1), ... until they no longer count."""
    total, term, n = D(0), first, 0
    while abs(term) > D(10) ** -75:
        total += term
        n += 1
        term = term * ratio(n)
    return total


def atan(t):
    if abs(t) > D("0.1"):  # halve the angle
        return 2 * atan(t / (1 + (1 + t * t).sqrt()))
    total, power, n = D(0), t, 0
    while abs(power) > D(10) ** -75:
        total += power / (2 * n + 1)
        power *= -t * t
        n += 1
    return total


PI = 4 * atan(D(1))
LN2 = D(2).ln()

# What is left of each function after its leading terms, as power series in u (so that nothing cancels at u = 0).


def sin_rest(u):  # (sin x - x) / x^3, u = x^2
    return series(D(-1) / 6, lambda n: -u / ((2 * n + 2) * (2 * n + 3)))


def cos_rest(u):  # (cos x - 1 + x^2/2) / x^4
    return series(D(1) / 24, lambda n: -u / ((2 * n + 3) * (2 * n + 4)))


def exp_rest(r):  # (exp r - 1 - r - r^2/2 - r^3/6) / r^4
    return series(D(1) / 24, lambda n: r / (n + 4))


def odd_rest(u, first, sign):  # sum over n >= first of sign^n u^(n - first) / (2 n + 1)
    total, power, n = D(0), D(sign) ** first, first
    while abs(power) > D(10) ** -75:
        total += power / (2 * n + 1)
        power *= sign * u
        n += 1
    return total


def solve(matrix, right):
    n = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            for j in range(i, n + 1):
                rows[k][j] -= factor * rows[i][j]
    out = [D(0)] * n
    for i in reversed(range(n)):
        out[i] = (rows[i][n] - sum(rows[i][j] * out[j] for j in range(i + 1, n))) / rows[i][i]
    return out


def remez(f, weight, low, high, degree):
    """Coefficients, constant first, of the polynomial P that minimises max |weight (P - f)| on [low, high]."""
    count = degree + 2
    cos = lambda a: 1 - a * a / 2 + a ** 4 * cos_rest(a * a)
    nodes = [low + (high - low) * (1 - cos(PI * (2 * i + 1) / (2 * count))) / 2 for i in range(count)]
    grid = [low + (high - low) * (1 - cos(PI * i / 300)) / 2 for i in range(301)]
    target = [(x, f(x), weight(x)) for x in grid]
    for _ in range(6):
        rows = [[x ** k for k in range(degree + 1)] + [(-1) ** i / weight(x)] for i, x in enumerate(nodes)]
        solution = solve(rows, [f(x) for x in nodes])
        polynomial = solution[:-1]
        error = []
        for x, value, w in target:
            p = D(0)
            for c in reversed(polynomial):
                p = p * x + c
            error.append(w * (p - value))
        # One extremum of each run of equal sign.
        extrema = []
        for i, e in enumerate(error):
            if e == 0:
                continue
            if extrema and (error[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > count:
            extrema.pop(0 if abs(error[extrema[0]]) < abs(error[extrema[-1]]) else -1)
        if len(extrema) < count:
            break
        nodes = [grid[i] for i in extrema]
    return polynomial, max(abs(e) for e in error)


def hexfloat(value):
    return float(value).hex()


def cut(value, bits):
    """`value` rounded to `bits` significant bits, and what is left."""
    import math
    exponent = math.frexp(float(value))[1] - bits
    scaled = value / D(2) ** exponent
    whole = scaled.to_integral_value()
    head = whole * D(2) ** exponent
    return head, value - head


def table(name, values, per_line=3):
    lines = ["static const double %s[%d] = {" % (name, len(values))]
    text = [hexfloat(v) for v in values]
    for i in range(0, len(text), per_line):
        lines.append("    " + ", ".join(text[i:i + per_line]) + ",")
    return lines + ["};"]


def constants():
    quarter = (PI / 4 + D(10) ** -6) ** 2  # the reduced argument, with room for the rounding of the quotient
    sin_over_x = lambda u: 1 + u * sin_rest(u)
    sin, sin_error = remez(sin_rest, lambda u: u / sin_over_x(u) if u else D(10) ** -30, D(0), quarter, 5)
    cos, cos_error = remez(cos_rest, lambda u: u * u / (1 - u / 2 + u * u * cos_rest(u)) if u else D(10) ** -30,
                           D(0), quarter, 5)
    widest = (D(1) / 16 + D(10) ** -3) ** 2
    atan_p, atan_error = remez(lambda u: odd_rest(u, 1, -1), lambda u: u if u else D(10) ** -30, D(0), widest, 4)
    s = ((D(2).sqrt() - 1) / (D(2).sqrt() + 1) + D(10) ** -6) ** 2
    log_p, log_error = remez(lambda u: 2 * odd_rest(u, 2, 1), lambda u: u * u if u else D(10) ** -30, D(0), s, 7)
    r = LN2 / 2 + D(10) ** -6
    exp_p, exp_error = remez(exp_rest, lambda x: abs(x ** 4) * (-x).exp() if x else D(10) ** -30, -r, r, 9)
    print("relative errors: sin %.1e cos %.1e atan %.1e log %.1e exp %.1e" % (
        sin_error, cos_error, atan_error, log_error, exp_error), file=sys.stderr)
    out = []
    half = PI / 2
    parts = []
    for _ in range(3):
        head, half = cut(half, 33)
        parts.append(head)
    out += table("half_pi_part", parts + [half])
    out += table("sin_rest", sin)
    out += table("cos_rest", cos)
    out += table("atan_rest", atan_p)
    out += table("atan_eighth_hi", [D(float(atan(D(k) / 8))) for k in range(9)])
    out += table("atan_eighth_lo", [atan(D(k) / 8) - D(float(atan(D(k) / 8))) for k in range(9)])
    out += table("log_rest", log_p)
    out += table("exp_rest", exp_p)
    hi, rest = cut(LN2, 42)
    mid, _ = cut(rest, 42)
    out += table("ln2_part", [hi, mid])
    for name, value in (("two_thirds", D(2) / 3), ("sixth", D(1) / 6), ("half_pi", PI / 2), ("pi", PI)):
        out += table(name, [D(float(value)), value - D(float(value))])
    words = 20
    getcontext().prec = 420
    pi = machin()
    scaled = int(D(2) ** (64 * words + 1) / pi)  # 2/pi as a binary fraction
    out.append("static const uint64_t two_over_pi[%d] = {" % words)
    for i in range(0, words, 4):
        out.append("    " + ", ".join("0x%016x" % (scaled >> (64 * (words - 1 - k)) & (2 ** 64 - 1))
                                      for k in range(i, i + 4)) + ",")
    return out + ["};"]


def machin():
    """pi in the context's precision."""
    def arc(n):
        total, power, k, sign = D(0), D(1) / n, 1, 1
        while power > D(10) ** -(getcontext().prec + 5):
            total += sign * power / k
            power /= n * n
            k += 2
            sign = -sign
        return total
    return 16 * arc(5) - 4 * arc(239)


def main():
    text = "\n".join(constants())
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2]) as file:
            have = "".join(file.read().split())
        missing = [block for block in text.split("};\n") if "".join(block.rstrip("};").split()) not in have]
        for block in missing:
            print("not in %s:\n%s};" % (sys.argv[2], block))
        print("%d tables checked" % len(text.split("};\n")))
        return 1 if missing else 0
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
