"""The page of `vidrec browse` in a browser: every clip, search and filters, sound, tracks and cameras, flags, damage."""
import json
import shutil

import browse_page
import browser
import numpy as np
import pytest
from programs import run

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
    assert results(page, {"q": "NUMBER 7"}) == [7]
    assert results(page, {"q": '"number 7"'}) == [7]
    assert results(page, {"q": "score>1 score<=2"}) == [5, 6, 7, 8]
    assert results(page, {"q": "-note:clip"}) == []
    assert results(page, {"q": "camera=top"}) == [0, 2]
    assert results(page, {"q": "-camera:top class=plain"}) == [3, 6, 9]
    assert results(page, {"q": "score=0.50"}) == results(page, {"q": "score:0.5"}) == results(page, {"q": "source=2.mkv"}) == [2]
    assert results(page, {"q": "frames=12 width=214"}) == [2, 7]
    assert results(page, {"q": "<img"}) == list(range(10))
    assert results(page, {"q": "nothing has this"}) == []
    assert results(page, {"class": "plain"}) == [0, 3, 6, 9]
    assert results(page, {"class": "plain", "q": "score>1"}) == [6, 9]
    assert results(page, {"sort": "score", "desc": "1"}) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert results(page, {"desc": "1"}) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert results(page, {}) == list(range(10))
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


def test_pictures_of_a_track_follow_the_frames(made, tmp_path):
    depth = np.zeros((12, 4, 6), np.uint16)
    depth[:, :, 3:] = 1000 * np.arange(1, 13)[:, None, None]
    depth[5] = 7
    np.save(tmp_path / "depth.npy", depth)
    (tmp_path / "list.jsonl").write_text(json.dumps({"path": str(made.parent / "0.mkv"), "depth": "depth.npy"}) + "\n")
    run("vidrec", "pack", tmp_path / "list.jsonl", "-o", tmp_path / "deep", "--all", "--size", "120", "--track", "depth=depth,frames")
    row = "[...new Uint32Array(c.getContext('2d').getImageData(0, 0, 6, 1).data.buffer)].map(n => n & 255).join()"
    with browse_page.browsing(tmp_path / "deep") as address, browser.Browser(tmp_path) as page:
        page.size(1280, 900)
        page.open(f"{address}#clips?clip=0.0")
        for key, shown in (("Home", "0,0,0,255,255,255"), *[("ArrowRight", None)] * 4, ("ArrowRight", "0,0,0,0,0,0")):
            page.wait("document.querySelector('dialog .track canvas') !== null")
            page.key(key)
            if shown:
                page.wait(f"(c => {row})(document.querySelector('dialog .track canvas')) === '{shown}'")


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


def test_a_window_of_another_size_shows_the_same_clips_and_no_gaps(page):
    page.js("wall.show(new Uint32Array(1000)); scrollTo(0, 20_000)")
    page.wait(f"Math.min(...{IN_VIEW}) > 300")
    first = page.js(f"Math.min(...{IN_VIEW})")
    for width, height in ((390, 844), (1280, 300), (1280, 1600), (390, 844), (1280, 900)):
        page.size(width, height)
        page.wait(f"Math.max(...[...document.querySelectorAll('#wall .card')].map(c => c.getBoundingClientRect().bottom)) >= {height}")
        # In other columns, the row at the top may begin some clips earlier each time.
        page.wait(f"Math.abs(Math.min(...{IN_VIEW}) - {first}) < 24")


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_and_everybody_can_use_it(page, address, dark):
    audit = (browse_page.os.path.dirname(browser.__file__)) + "/audit.js"
    page.size(390, 844, dark=dark, mobile=True, still=True)
    for place in ("#clips", "#clips?clip=0.0"):
        page.open("about:blank")
        page.open(address + place)
        page.wait(f"{OPENED} !== null" if "clip=" in place else f"{SHOWN} === 10")
        if "clip=" in place:
            page.wait("document.querySelectorAll('dialog .track').length === 3")
        page.wait("document.documentElement.scrollWidth === 390")
        page.js(open(audit, encoding="utf-8").read() + "; null")
        for what in ("contrast", "structure", "overflow", "motion"):
            assert page.js(f"audit.{what}()") == [], (place, what)


def copied(made, tmp_path):
    return shutil.copytree(made, tmp_path / "set")


def damage(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_what_is_damaged_is_shown_as_damaged(made, tmp_path):
    """A frame, the texts of a clip, and a track: nothing else is shown in their place."""
    folder = copied(made, tmp_path)
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


def test_the_overview_has_the_figures(page):
    page.js("show({view: 'overview'})")
    page.wait("document.querySelector('#overview .tile b')?.textContent === '10'")
    assert "plain" in page.js("document.querySelector('#overview').textContent")
    assert page.js("[...document.querySelectorAll('#overview summary')].some(s => s.textContent.endsWith(' settings'))")
    page.js("show({view: 'clips'}); show({view: 'overview'})")
    assert page.js("document.querySelectorAll('#overview .tiles').length") == 1


def test_a_server_that_has_ended_is_said_in_words(made, tmp_path):
    with browser.Browser(tmp_path) as page:
        page.size(1280, 900)
        with browse_page.browsing(made) as address:
            page.open(address)
            page.wait(f"{SHOWN} === 10")
        page.js("show({view: 'overview'})")
        page.wait("document.querySelector('#trouble')?.textContent.includes('run vidrec browse again')")


def test_findings_are_listed_and_filter_clips(made, tmp_path):
    run("vidrec", "merge", made, made, "-o", tmp_path / "double")
    found = browser_check(tmp_path / "double")
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


def browser_check(folder):
    """The report of a check, which ends with status 3 if there is something to report."""
    done = browse_page.subprocess.run([browse_page.built("vidrec"), "check", folder, "--json"], capture_output=True)
    assert done.returncode == 3, done.stderr
    return json.loads(done.stdout)
