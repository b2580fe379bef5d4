#!/usr/bin/python3
"""examples.py: the scripts of docs/examples/python run, and what they print and draw is what happens there.

If it failed, what the documents tell others to write would not work.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

from common import SOURCE, end, expect

HERE = os.path.join(SOURCE, "docs/examples/python")


def script(name, folder):
    done = subprocess.run([sys.executable, os.path.join(HERE, name), folder], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: code {done.returncode}\n{done.stdout}{done.stderr}")
    expect("Warning" not in done.stderr, f"{name} warns: {done.stderr}")
    return done.stdout


def size(path):
    from PIL import Image
    image = Image.open(path)
    return image.size, getattr(image, "n_frames", 1), len(set(image.convert("RGB").resize((64, 48)).getdata()))


with tempfile.TemporaryDirectory() as folder:
    told = script("drape.py", folder)
    lowest = [float(y) for y in re.findall(r"corner is at (\S+) m", told)]
    expect(len(lowest) == 5 and lowest[0] == 0.03 and min(lowest) < -0.1, f"the cloth hangs over the table: {told}")
    expect(0 < int(re.search(r"took (\d+) %", told)[1]) < 100, f"contacts take some of the energy: {told}")
    for name, frames in (("drape.png", 1), ("drape-energy.png", 1), ("drape.webp", 5)):
        shape, count, colours = size(os.path.join(folder, name))
        expect(count == frames and colours > 50, f"{name}: {shape}, {count} frames, {colours} colours")

    told = script("study.py", folder)
    ways = dict((float(mu), float(way)) for mu, way in re.findall(r"friction (\S+): it slid +(\S+) mm", told))
    slope, g, t = math.radians(20), 9.81, 0.3
    for mu, way in ways.items():
        law = 500 * g * max(0, math.sin(slope) - mu * math.cos(slope)) * t * t
        expect(abs(way - law) < 0.03 * 151 + 0.02 * law, f"friction {mu}: {way} mm, and {law} mm by Coulomb's law")
    expect(len(ways) == 6 and size(os.path.join(folder, "study.png"))[2] > 10, f"the study has a plot: {told}")

    told = script("finger.py", folder)
    held, wanted = (float(x) for x in re.search(r"holds (\S+) mN of the (\S+) mN", told).groups())
    expect(abs(held - wanted) < 0.2 * wanted, f"the finger holds the force: {told}")

    told = script("funnel.py", folder)
    counts = [float(c) for c in re.findall(r"[\d.]+", told)]
    expect(len(counts) == 51 and counts[0] == 0 and counts == sorted(counts) and counts[-1] == 640, f"all sand runs out: {told}")
    with open(os.path.join(SOURCE, "docs/tutorials/grains.md"), encoding="utf-8") as page, open(os.path.join(HERE, "funnel.py"), encoding="utf-8") as file:
        shown = re.search(r"```python\n(.*?)```", page.read(), re.S)[1]
        expect(file.read().endswith(shown), "docs/tutorials/grains.md shows the script as it is")

    told = script("lazy.py", folder)
    expect("frames so far" in told and "201 frames;" in told, f"a run is read while it goes on: {told}")
    expect(float(re.search(r"off by (\S+) of", told)[1]) < 0.02, f"the books: {told}")
end()
