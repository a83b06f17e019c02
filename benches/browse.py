#!/usr/bin/env python3
"""How long `vidrec browse` takes in Chromium, over a data set with captions: medians of several tries.

    benches/browse.py target/release/vidrec FOLDER
"""
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests/python"))
import browser as chromium  # noqa: E402

TRIES = 7
# All pictures of cards in view are drawn.
WALL = """(() => {
    const cards = [...document.querySelectorAll('#wall .card')].filter(c => { const b = c.getBoundingClientRect(); return b.bottom > 0 && b.top < innerHeight; });
    return cards.length > 0 && cards.every(c => c.dataset.key && c.querySelector('canvas')?.width !== 300);
})()"""
OPENED = "document.querySelector('dialog[open] .picture canvas')?.width === 64 && document.querySelector('dialog h2').textContent.endsWith('/%d.mp4')"
SEARCH = """new Promise(done => {
    const began = performance.now();
    const times = [];
    const told = new MutationObserver(() => {
        if (!times.length && document.querySelector('#wall .card[data-key]') && !/^0 of/.test(document.querySelector('#result').textContent)) times.push(performance.now() - began);
        if (!document.querySelector('#wall').hasAttribute('aria-busy')) { told.disconnect(); done([times[0] ?? performance.now() - began, performance.now() - began, document.querySelector('#result').textContent]); }
    });
    show({q: %r}, true);
    told.observe(document.querySelector('#clips'), {subtree: true, childList: true, attributes: true});
})"""


def seconds(page, expression):
    """How long it takes until an expression is true, looked at again and again."""
    return page.js(f"""new Promise(done => {{
        const began = performance.now();
        const look = () => {expression} ? done((performance.now() - began) / 1000) : setTimeout(look, 1);
        look();
    }})""")


def main():
    program, folder = sys.argv[1:]
    random.seed(0)
    process = subprocess.Popen([program, "browse", folder], stdout=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    walls, jumps, places, searches = [], [], [], []
    with tempfile.TemporaryDirectory() as downloads, chromium.Browser(downloads) as page:
        page.size(1280, 900)
        for _ in range(TRIES):
            page.open("about:blank")
            began = time.perf_counter()
            page.call("Page.navigate", url=address)
            while not page.js(WALL):
                pass
            walls.append(time.perf_counter() - began)
        clips = page.js("catalog.size")
        for _ in range(TRIES):
            number = random.randrange(clips)
            page.js(f"show({{clip: '0.{number}'}})")
            jumps.append(seconds(page, OPENED % number))
            page.js("document.querySelector('dialog').close()")
            page.wait("!location.hash.includes('clip=')")
        for _ in range(TRIES):
            page.js(f"document.querySelectorAll('#wall .card').forEach(c => c.removeAttribute('data-key')); scrollTo(0, {random.random()} * document.documentElement.scrollHeight)")
            places.append(seconds(page, WALL))
        for words in ("sings place 4242", "nobody waits", "child place 777"):
            page.js("scrollTo(0, 0)")
            searches.append(page.js(SEARCH % words))
    process.terminate()
    for name, values in (("first wall", walls), ("a clip", jumps), ("a place of the wall", places)):
        print(f"{name}: {1000 * statistics.median(values):.0f} ms (at most {1000 * max(values):.0f} ms)")
    for first, last, result in searches:
        print(f"search: first results after {first:.0f} ms, all after {last:.0f} ms: {result}")


if __name__ == "__main__":
    main()
