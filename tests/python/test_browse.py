"""The page of `vidrec browse` in a browser: every clip, search and filters, sound, tracks and cameras, flags, damage."""
import json
import shutil
import subprocess

import browse_page
import browser
import pytest
from programs import built, run

pytestmark = [pytest.mark.full, pytest.mark.skipif(browser.program() is None, reason="no Chromium (Debian's package chromium)")]

RESULT = "document.querySelector('#result').textContent"
OPENED = "document.querySelector('dialog[open] .picture[role=slider]')"
IN_VIEW = """[...document.querySelectorAll('#wall .card')].filter(c => { const b = c.getBoundingClientRect(); return b.bottom > 0 && b.top < innerHeight; }).map(c => Number(c.dataset.position))"""
SHOWN = "document.querySelectorAll('#wall .card[data-key]').length"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return browse_page.make(tmp_path_factory.mktemp("browse"))


@pytest.fixture(scope="module")
def address(made):
    with browse_page.browsing(made) as address:
        yield address


@pytest.fixture
def page(address, tmp_path):
    with browser.Browser(tmp_path) as opened:
        opened.size(1280, 900)
        opened.open(address)
        opened.wait(f"{SHOWN} === 10")
        yield opened
        assert opened.complaints() == []
        assert all(url.startswith(address) for url in opened.requests())


def results(page, state):
    """The numbers of the clips that a state of the page shows, when all is searched."""
    none = "q: undefined, class: undefined, only: undefined, set: undefined, sort: undefined, desc: undefined"
    page.js(f"show({{view: 'clips', {none}, ...{json.dumps(state)}}})")
    page.wait("document.querySelector('#wall[aria-busy], #wall [aria-busy]') === null")
    return page.js("[...document.querySelectorAll('#wall .card')].sort((a, b) => a.dataset.position - b.dataset.position).map(c => Number(c.dataset.key.slice(2)))")


def drawn(canvas):
    """That a canvas shows a frame: empty ones are 300 wide, and frames here are not."""
    return f'(document.querySelector("{canvas}")?.width ?? 300) !== 300'


def colors(page, canvas):
    """How many different pixels a canvas has."""
    return page.js(f"""(() => {{
        const c = {canvas};
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return new Set(new Uint32Array(data.buffer)).size;
    }})()""")


def test_every_clip_is_on_the_wall_and_what_is_hostile_is_text(page):
    assert page.js(RESULT) == "10 clips"
    assert page.js("document.querySelectorAll('img').length") == 0
    assert browse_page.HOSTILE in page.js("document.querySelector('#wall').textContent")
    page.wait(drawn("#wall .card[data-key='0.0'] canvas"))
    assert colors(page, "document.querySelector('#wall .card[data-key=\"0.0\"] canvas')") > 100


def test_words_values_and_classes_find_clips(page):
    for state, clips in [
        ({"q": "NUMBER 7"}, [7]),
        ({"q": "score>1 score<=2"}, [5, 6, 7, 8]),
        ({"q": "-note:clip"}, []),
        ({"q": "-camera:top class=plain"}, [3, 6, 9]),
        ({"q": "score=0.50"}, [2]),
        ({"q": "frames=12 width=214"}, [2, 7]),
        ({"q": "<img"}, list(range(10))),
        ({"class": "plain", "q": "score>1"}, [6, 9]),
        ({"sort": "score", "desc": "1"}, list(range(9, -1, -1))),
        ({}, list(range(10))),
    ]:
        assert results(page, state) == clips, state
    page.js("show({q: 'seconds>1'})")
    page.wait(f"{RESULT}.includes('No clip is found by seconds')")


def test_a_clip_plays_with_its_sound_tracks_and_cameras(page, address):
    page.open(f"{address}#clips?clip=0.2")
    page.wait("document.querySelectorAll('dialog .track').length === 3")
    words = "document.querySelectorAll('dialog .track')[1].textContent"
    cursor = "Number(document.querySelector('dialog .track .cursor').getAttribute('x1'))"
    page.key("Home")
    page.wait(f"{words} === 'caption reaches'")
    assert page.js(cursor) == 0
    assert page.js("[...document.querySelectorAll('dialog .track b')].map(b => b.textContent).join()") == "action,caption,audio"
    assert page.js("document.querySelector('dialog .track').querySelectorAll('polyline').length") == 2
    page.wait(drawn("dialog .cameras a canvas"))
    assert page.js("document.querySelector('dialog .cameras').textContent") == "wrist"
    # What the sound card would play, and from where.
    page.js("""played = [];
        plays = AudioBufferSourceNode.prototype.start;
        AudioBufferSourceNode.prototype.start = function (when, at) {
            played.push([this.buffer.sampleRate, this.buffer.length, at]);
            plays.call(this, when, at);
        }; null""")
    page.key(" ")
    page.wait(f"{OPENED}.getAttribute('aria-valuenow') === '12'")
    page.wait("document.querySelector('dialog .transport button').textContent === 'Play'")
    page.wait(f"{words} === 'caption takes it'")
    assert page.js(cursor) > 500
    rate, length, at = page.js("played[0]")
    assert (rate, at) == (16000, 0) and 15_000 < length < 18_000


def test_a_wall_that_is_higher_than_any_element_is_seen_to_its_end(page):
    """A million cards, all of clip 0. Places are those of the cards in view."""
    page.js("wall.show(new Uint32Array(1_000_000)); null")
    view = IN_VIEW
    bottom = "document.documentElement.scrollHeight"
    page.wait(f"({view}).includes(0)")
    page.js(f"scrollTo(0, {bottom})")
    page.wait(f"({view}).includes(999_999)")
    page.js(f"scrollTo(0, {bottom} / 2)")
    page.wait(f"({view}).some(at => at > 480_000 && at < 520_000)")
    # Keys go on from there, row by row, and what is in view stays there when the scroll bar settles.
    page.js("document.querySelector(`#wall .card[data-position='${(" + view + ")[0]}'] .picture`).focus({preventScroll: true})")
    at = page.js("Number(document.activeElement.closest('.card').dataset.position)")
    for _ in range(12):
        page.key("ArrowDown")
    columns = page.js("getComputedStyle(document.querySelector('#wall')).width.slice(0, -2) / (document.querySelector('#wall .card').offsetWidth + 14) + 0.5 | 0")
    page.wait(f"Number(document.activeElement.closest('.card')?.dataset.position) === {at + 12 * columns}")
    page.wait(f"({view}).includes({at + 12 * columns})")
    page.js("scrollTo(0, 0)")
    page.wait(f"({view}).includes(0)")


def damage(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_what_is_damaged_is_shown_as_damaged(made, tmp_path):
    """A frame, the texts of a clip, and a track: nothing else is shown in their place."""
    folder = shutil.copytree(made, tmp_path / "set")
    clip = json.loads(run("vidrec", "inspect", folder, "--clip", "3", "--json"))
    (records,), (index,), (tracks,) = (list(folder.glob(f"*.{ending}")) for ending in ("rec", "vidx", "vtrk"))
    data = index.read_bytes()
    damage(records, clip["frames"][6]["offset"] + 500)
    damage(index, data.index(b"the Clip number 8"))
    with browse_page.browsing(folder) as address, browser.Browser(tmp_path) as page:
        # What opening finds by itself has to happen after it.
        damage(tracks, 64 + 8 + 3 * 48 + 64)
        page.size(1280, 900)
        page.open(address)
        page.wait(f"{SHOWN} === 10")
        fault = "document.querySelector('#wall .card[data-key=\"0.%d\"] canvas')?.dataset.fault ?? ''"
        page.wait(f"({fault % 3}).includes('CRC-32')")
        assert ", damaged" in page.js("document.querySelector('#wall .card[data-key=\"0.3\"] [role=slider]').getAttribute('aria-valuetext')")
        assert page.js(fault % 4) == ""
        assert "CRC-32" in page.js("document.querySelector('#wall .card[data-key=\"0.8\"] .none').textContent")
        assert results(page, {"q": "number"}) == [0, 1, 2, 3, 4, 5, 6, 7, 9]
        page.wait(f"{RESULT} === '9 of 10 clips; 1 is damaged and not searched'")
        page.open(f"{address}#clips?clip=0.0")
        page.wait("document.querySelector('dialog .tracks')?.textContent.includes('Track action cannot be shown: ')")


def test_findings_are_listed_and_filter_clips(made, tmp_path):
    run("vidrec", "merge", made, made, "-o", tmp_path / "double")
    # It ends with status 3, because there is something to report.
    done = subprocess.run([built("vidrec"), "check", tmp_path / "double", "--json"], capture_output=True)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    (tmp_path / "found.json").write_text(json.dumps(found))
    with browse_page.browsing(tmp_path / "double", "--findings", tmp_path / "found.json") as address, browser.Browser(tmp_path) as page:
        page.size(1280, 900)
        page.open(address)
        page.wait("document.querySelector('#found').textContent.includes('Near duplicates')")
        page.open(f"{address}#findings?kind=near-duplicate")
        page.wait("document.querySelectorAll('#findings .card[data-key] canvas').length > 2")
        black = sorted(clip["clip"] for finding in found["findings"] if finding["kind"] == "black" for clip in finding["clips"])
        assert black and results(page, {"only": "black"}) == black
        assert page.complaints() == []
