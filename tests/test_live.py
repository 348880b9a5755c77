"""The pages that move: each is driven in headless Chromium without a network, and the loss editor's algebra is ours."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct

pytest.importorskip("playwright")
DOCS = Path(__file__).parents[1] / "docs"

#: A page is no larger than this.
MOST_BYTES = 1.5e6

NAMES = ("cccp", "editor", "annealing", "tree", "staircase", "dual", "path", "derivation")


@pytest.fixture(scope="module")
def live():
    import sys

    sys.path.insert(0, str(DOCS))
    import live as module
    import look

    if not any(map(shutil.which, look.BROWSERS)):
        pytest.skip("there is no Chromium")
    return module


@pytest.fixture(scope="module")
def page(live):
    from look import browser_found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_found(), args=["--no-sandbox"])
        made = browser.new_context(offline=True, viewport={"width": 1000, "height": 900}).new_page()
        failed = []
        made.on("pageerror", lambda error: failed.append(error))  # noqa: PLW0108 (playwright writes to what it is given)
        yield made
        browser.close()
        assert not failed


def opened(live, page, name, folder):
    """The data of a piece whose page is open."""
    path = folder / f"{name}.html"
    data = live.standalone(name, path)
    assert path.stat().st_size < MOST_BYTES
    page.goto(path.as_uri())
    return data


def numbers(page):
    """What stands in the page, by name."""
    found = page.eval_on_selector_all(
        ".live-numbers dt", "all => all.map(e => [e.textContent, e.nextSibling.dataset.value])"
    )
    return dict(found)


def test_every_piece_is_tried(live):
    assert tuple(name for name, *_ in live.PIECES) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name != "editor"])
def test_a_slider_shows_the_frames_that_were_computed(live, page, tmp_path, name):
    frames = opened(live, page, name, tmp_path)["frames"]
    assert len(frames) > 3
    slider = page.locator("input[type=range]")
    slider.focus()
    for k in (0, 1, 2):  # by the keys
        assert page.locator("output").inner_text() == frames[k]["label"]
        page.keyboard.press("ArrowRight")
    for k in (len(frames) - 1, len(frames) // 2):
        slider.evaluate("(one, k) => { one.value = k; one.dispatchEvent(new Event('input')); }", k)
        shown = numbers(page)
        assert list(shown) == list(frames[k]["numbers"])
        for key, value in frames[k]["numbers"].items():
            assert shown[key] == value if isinstance(value, str) else float(shown[key]) == value
    drawn = page.locator("svg polyline, svg circle, svg rect, svg line").count()
    assert drawn > 10 or name == "derivation"
    hidden = page.locator(".live-step.live-hidden").count()
    assert hidden == (len(frames) - 1 - len(frames) // 2 if name == "derivation" else 0)
    page.locator("button").click()  # it plays, and stops
    page.wait_for_function(
        "k => Number(document.querySelector('input[type=range]').value) === k", arg=len(frames) // 2 + 1
    )
    page.locator("button").click()


def test_what_the_pieces_say(live):
    """Laws of what is shown, whatever is computed."""
    frames = {name: make()["frames"] for name, _, make in live.PIECES if name != "editor"}
    values = {
        name: {key: [one["numbers"].get(key) for one in all_of_them] for key in all_of_them[0]["numbers"]}
        for name, all_of_them in frames.items()
    }
    objective = values["cccp"]["objective"]
    assert all(np.diff(objective) <= 1e-12)
    assert all(a >= b for a, b in zip(values["cccp"]["least value of the surrogate"], objective[1:], strict=False))
    assert values["annealing"]["valleys"][0] == 1
    assert values["annealing"]["valleys"][-1] > 1
    assert all(np.diff(values["tree"]["lower bound"]) >= -1e-9)
    assert values["tree"]["lower bound"][-1] == pytest.approx(values["tree"]["objective"][0])
    stairs = values["staircase"]
    for weak, strong in (("svm", "sdp"), ("sdp", "signs"), ("signs", "objective")):
        assert all(np.array(stairs[weak]) <= np.array(stairs[strong]) * (1 + 1e-3))
    assert stairs["svm"][-1] == stairs["objective"][0]
    assert all(np.diff(values["dual"]["dual"]) >= -1e-12)
    assert values["dual"]["gap"][-1] < 1e-3
    assert values["path"]["wrong"][-1] < values["path"]["wrong"][0]
    assert len(frames["derivation"]) == len(ct.papers.paper("collobert2006").derivations[1].steps)


def random_loss(rng):
    """A PLQ loss with up to four breakpoints, bounded below by a line."""
    k = int(rng.integers(1, 5))
    breaks, b = np.sort(rng.normal(0, 1.5, k)), rng.normal(size=k + 1)
    a = np.where(rng.random(k + 1) < 0.5, 0, rng.normal(size=k + 1))
    a[[0, -1]], b[0], b[-1] = np.abs(a[[0, -1]]), -abs(b[0]), abs(b[-1])
    c = np.concatenate([[0], np.cumsum((a[:-1] - a[1:]) * breaks**2 + (b[:-1] - b[1:]) * breaks)])
    return ct.losses.PLQ(breaks, np.column_stack([a, b, c]))


def test_the_algebra_of_the_editor_is_that_of_the_package(page, live):
    rng = np.random.default_rng(0)
    losses = [*(random_loss(rng) for _ in range(200)), ct.symmetric_ramp(-0.3), ct.ramp(-0.3), ct.losses.flat_newton()]
    given = [{"breaks": f.breaks.tolist(), "pieces": f.pieces.tolist()} for f in losses]
    v = np.linspace(-3, 3, 13)
    page.goto("about:blank")
    page.add_script_tag(content=(DOCS / "_static" / "plq.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        """([losses, v]) => losses.map(one => {
            const f = PLQ.make(one.breaks, one.pieces), [convex, concave] = PLQ.split(f), envelope = PLQ.envelope(f);
            return {convex, concave, envelope, part: PLQ.envelope(f, -0.7, 1.1), of_envelope: PLQ.conjugate(envelope),
                    of_convex: PLQ.conjugate(convex), prox: v.map(x => PLQ.prox(convex, x, 0.7))};
        })""",
        [given, v.tolist()],
    )
    for f, one in zip(losses, found, strict=True):
        convex, concave = f.split()
        ours = {"convex": convex, "concave": concave, "envelope": f.envelope(), "part": f.envelope(-0.7, 1.1)}
        ours |= {"of_envelope": f.envelope().conjugate(), "of_convex": convex.conjugate()}
        for key, own in ours.items():
            np.testing.assert_allclose(one[key]["breaks"], own.breaks, rtol=1e-12, atol=1e-12, err_msg=key)
            np.testing.assert_allclose(one[key]["pieces"], own.pieces, rtol=1e-12, atol=1e-12, err_msg=key)
        np.testing.assert_allclose(one["prox"], convex.prox(v, 0.7), rtol=1e-12, atol=1e-12)


def test_a_loss_is_dragged(live, page, tmp_path):
    opened(live, page, "editor", tmp_path)
    page.locator("select").select_option("symmetric ramp, s = -0.3")
    said = numbers(page)
    loss = ct.symmetric_ramp(-0.3)
    assert float(said["value at 0"]) == pytest.approx(float(loss(0)), abs=1e-12)
    assert float(said["envelope at 0"]) == pytest.approx(float(loss.within(-2.5, 2.5).envelope()(0)), abs=1e-12)
    assert float(said["convex part at 0"]) == pytest.approx(float(loss.split()[0](0)), abs=1e-12)
    handles = page.locator("svg").first.locator("circle")
    box = handles.nth(2).bounding_box()
    before = page.evaluate("document.querySelector('figure').editor.nodes")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] - 40, steps=4)
    page.mouse.up()
    nodes = page.evaluate("document.querySelector('figure').editor.nodes")
    assert nodes[2][1] > before[2][1]
    t, values = np.array(nodes).T
    slopes = np.diff(values) / np.diff(t)
    pieces = [(0.0, slope, y - slope * x) for slope, x, y in zip(slopes, t, values, strict=False)]
    moved, said = ct.losses.PLQ(t[1:-1], pieces), numbers(page)
    assert float(said["value at 0"]) == pytest.approx(float(moved(0)), abs=1e-9)
    assert float(said["envelope at 0"]) == pytest.approx(float(moved.envelope()(0)), abs=1e-9)
    assert float(said["prox"]) == pytest.approx(float(moved.split()[0].prox(0.5)), abs=1e-9)
