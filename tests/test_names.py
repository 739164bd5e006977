"""The names of nodes are what torch gives, and the page finds them."""

from __future__ import annotations

import gzip
import json
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import measure_names
import names
import pytest
import torch
import torchgen
from published import OFFLINE_SITE, SITE_URL, at

if TYPE_CHECKING:
    from playwright.sync_api import Page

TORCH = torch.__version__.partition("+")[0]
ROWS = names.recordings().get(TORCH)
PROGRAMS = [way for family in measure_names.table().values() for ways in family.values() for way in ways]
METHOD = re.compile(r"torch\.(\w+)\((input\d?)(?:, (.*))?\)((?:\.\w+)?)")
PAGE = "reference/node_names/"
# One node behind at most a wrapper or two, with inputs whose gradients differ from one another.
SLOTS = (
    "torch.addcmul(input, other, weight)",
    "input + 1",
    "torch.where(mask, input, other)",
    "F.linear(input, weight, bias)",
    "nn.Linear(4, 3)(input3)",
    "nn.Linear(4, 3)(data)",
    "torch.bmm(input3, other3)",
    "F.conv2d(input4, weight4, bias)",
    "F.conv2d(input4, weight4)",
    "nn.Conv2d(4, 4, 3)(data4)",
    "nn.Conv1d(4, 4, 3)(input)",
    "nn.BatchNorm2d(4)(input4)",
    "nn.LayerNorm(4)(data)",
    "nn.PReLU(4)(input)",
    "nn.Embedding(4, 3)(labels)",
    "F.scaled_dot_product_attention(query, key, value)",
    "F.mse_loss(input, data)",
    "torch.cat([input, other])",
    "torch.masked_scatter(input, mask, other)",
    "input.clone().mul_(other)",
)
recorded = pytest.mark.skipif(
    ROWS is None, reason=f"torch {TORCH} is not recorded: make names TORCHES={TORCH}"
)


@recorded
@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="recorded on Linux with x86-64"
)
def test_the_recording_is_what_this_torch_gives() -> None:
    fresh = measure_names.measure_all()
    assert fresh.keys() == ROWS.keys()
    assert {program: row for program, row in fresh.items() if row != ROWS[program]} == {}


def test_there_are_operations_of_every_kind() -> None:
    rows = [row for family in names.operations().values() for row in family]
    assert len(rows) >= 300
    assert len({row.key for row in rows}) == len(rows)
    assert len(set(PROGRAMS)) == len(PROGRAMS)
    assert not {row.key for row in rows} & set(names.FAMILIES)
    older = json.loads((names.RECORDINGS / "older.json").read_text(encoding="utf-8"))["rows"]
    assert older.keys() <= {row.key for row in rows}
    for start in "torch.", "nn.", "F.", "torch.linalg.", "torch.fft.", "torch.special.", "input.":
        assert sum(program.startswith(start) for program in PROGRAMS) > 5, start


@recorded
@pytest.mark.parametrize("family", measure_names.table())
def test_the_chain_begins_at_the_result(family: str) -> None:
    for program in [way for ways in measure_names.table()[family].values() for way in ways]:
        result, _ = measure_names.run(program)
        assert type(result.grad_fn).__name__ == ROWS[program]["nodes"][0], program
        assert result.output_nr == ROWS[program]["output_nr"], program


@recorded
@pytest.mark.parametrize("program", SLOTS)
def test_a_slot_gets_the_gradient_of_its_argument(program: str) -> None:
    torch.manual_seed(0)
    row, (result, leaves) = ROWS[program], measure_names.run(program)
    node = result.grad_fn
    for _ in range(row["at"]):
        node = node.next_functions[0][0]
    assert type(node).__name__ == row["nodes"][row["at"]]

    by_slot = []
    node.register_hook(lambda grad_inputs, grad_outputs: by_slot.extend(grad_inputs))
    gradients = torch.autograd.grad(result, list(leaves.values()), torch.rand_like(result))
    gradient_of = dict(zip(leaves, gradients))
    assert len(by_slot) == len(row["slots"])
    for gradient, name in zip(by_slot, row["slots"]):
        if name is None:
            assert gradient is None
        else:
            # A wrapper changes the order of the numbers at most.
            assert gradient.flatten().sort().values.equal(gradient_of[name].flatten().sort().values), name


@recorded
def test_a_method_gives_what_its_function_gives() -> None:
    compared = 0
    for program in PROGRAMS:
        match = METHOD.fullmatch(program)
        if match and callable(getattr(torch.Tensor, match[1], None)):
            function, argument, others, rest = match.groups(default="")
            assert measure_names.measure(f"{argument}.{function}({others}){rest}") == ROWS[program], program
            compared += 1
    assert compared > 100


# The page says what the pinned torch has.
@pytest.mark.pinned_torch
@pytest.mark.parametrize("device", names.DEVICES, ids=lambda device: device.function)
def test_a_node_of_another_device_is_in_torch(device: names.Device) -> None:
    packaged = Path(torchgen.__file__).parent / "packaged"
    functions = (packaged / "ATen/native/native_functions.yaml").read_text(encoding="utf-8")
    formulas = (packaged / "autograd/derivatives.yaml").read_text(encoding="utf-8")
    entry = re.search(rf"^- func: {device.function}\(.*?^$", functions, re.MULTILINE | re.DOTALL)[0]
    kernels = re.findall(r"\b\w+\b(?=[\w, ]*: )", entry.partition("dispatch:\n")[2])
    assert "CPU" not in kernels
    assert set(re.findall(r"[A-Z]+", device.devices)) - {"ROC"} <= set(kernels)
    assert f"\n- name: {device.function}(" in formulas
    assert hasattr(torch._C._functions, device.node)


def test_a_version_that_differs_is_named_in_its_row() -> None:
    linear = next(row for row in names.operations()["products"] if row.key == "linear-3d")
    assert names.differences(linear, "en") == [
        "2.15: <code>UnsafeViewBackward0</code> in place of <code>ViewBackward0</code>"
    ]
    row = re.search(
        r'<tr class="item" id="conv2d" .*', (names.ROOT / "docs/en" / f"{PAGE[:-1]}.md").read_text()
    )
    assert "<em>1.7</em>: <code>ThnnConv2DBackward</code>" in row[0]


def test_ways_that_differ_may_not_share_a_row() -> None:
    same = {"nodes": ["AddBackward0"]}
    assert names.one_for_all(["a", "b"], {"a": same, "b": same}, "2.13.0") == same
    with pytest.raises(SystemExit, match="'b' gives other nodes"):
        names.one_for_all(["a", "b"], {"a": same, "b": {"nodes": ["MulBackward0"]}}, "2.13.0")
    with pytest.raises(SystemExit, match="has no 'b'"):
        names.one_for_all(["a", "b"], {"a": same}, "2.13.0")


def test_what_changed_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for version, node in {"2.9.0": "ViewBackward0", "2.10.0": "UnsafeViewBackward0"}.items():
        rows = {"linear": {"nodes": [node], "slots": ["input"]}, version: {"nodes": [], "slots": []}}
        (tmp_path / f"{version}.json").write_text(json.dumps({"torch": version, "rows": rows}))
    monkeypatch.setattr(names, "RECORDINGS", tmp_path)
    names.print_changes()
    assert capsys.readouterr().out.split("\n") == [
        "",
        "2.9.0 -> 2.10.0",
        "  2.10.0: only with 2.10.0",
        "  2.9.0: only with 2.9.0",
        "  linear: nodes",
        "    ViewBackward0",
        "    UnsafeViewBackward0",
        "",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_light(site: Path, language: str) -> None:
    assert len(gzip.compress((site / language / PAGE / "index.html").read_bytes())) < 60_000


# ---- In a browser

languages = pytest.mark.parametrize("language", ["en", "zh"])


def rows_shown(tab: Page) -> dict[str, str]:
    rows = "[...document.querySelectorAll('#operations .item')].filter(row => row.checkVisibility())"
    return dict(tab.evaluate(f"{rows}.map(row => [row.id, row.textContent])"))


def headings_shown(tab: Page) -> list[str]:
    headings = "[...document.querySelectorAll('#operations h2')].filter(heading => heading.checkVisibility())"
    return tab.evaluate(f"{headings}.map(heading => heading.id)")


@languages
def test_the_filter_leaves_what_holds_every_word(tab: Page, language: str) -> None:
    tab.goto(at(f"{language}/{PAGE}"))
    field = tab.get_by_role("searchbox")
    assert len(rows_shown(tab)) >= 300
    field.fill("conv2d")
    shown = rows_shown(tab)
    assert {"conv2d", "conv2d-depthwise"} <= shown.keys()
    assert all("conv2d" in text.lower() for text in shown.values())
    assert headings_shown(tab) == ["convolution"]
    assert str(len(shown)) in tab.locator(".filter output").inner_text()
    field.fill("bias F.conv2d")
    assert {"conv2d", "conv2d-unbatched"} <= rows_shown(tab).keys() < shown.keys()
    field.fill("ThnnConv2DBackward")
    assert rows_shown(tab).keys() == {"conv2d", "conv2d-data"}
    field.fill("no such node")
    words = json.loads(tab.locator("#words").text_content())
    assert tab.locator(".filter output").inner_text() == words["filter_none"]
    assert (rows_shown(tab), headings_shown(tab)) == ({}, [])
    field.press("Escape")
    assert field.input_value() == ""
    assert len(headings_shown(tab)) == len(names.FAMILIES)
    # A phone has no such key.
    everything = tab.get_by_role("button", name=words["filter_clear"])
    assert everything.count() == 0
    field.fill("conv2d")
    everything.click()
    assert field.input_value() == ""
    assert len(headings_shown(tab)) == len(names.FAMILIES)


def test_the_filter_stands_in_the_address(tab: Page) -> None:
    tab.goto(at(f"en/{PAGE}"), wait_until="networkidle")
    tab.get_by_role("searchbox").fill("backward0")
    tab.get_by_label("Family").select_option("losses")
    tab.get_by_label("Versions").select_option("yes")
    shown = rows_shown(tab)
    assert shown.keys() == {"mse-data", "cross-entropy"}
    filtered = at(f"en/{PAGE}") + "?find=backward0&family=losses&change=yes"
    assert tab.url.endswith(filtered)

    tab.reload(wait_until="networkidle")
    assert rows_shown(tab) == shown
    tab.evaluate("window.sameDocument = true")
    tab.locator(".md-sidebar--primary .md-nav__link", has_text="Snippets").click()
    tab.wait_for_url(f"**/{at('en/reference/snippets/')}")
    tab.go_back()
    tab.wait_for_url(f"**/{filtered}")
    tab.locator(".filter output").get_by_text("2 of").wait_for()
    assert rows_shown(tab) == shown
    # Without a server each page is a document.
    assert OFFLINE_SITE or tab.evaluate("window.sameDocument")

    # A link to what is filtered out, as in the table of contents.
    tab.locator(".md-sidebar--secondary a[href$='#pooling']").click()
    tab.locator("#pooling").wait_for()
    assert len(headings_shown(tab)) == len(names.FAMILIES)
    assert "find" not in tab.url


def test_a_link_to_a_row_leads_there(tab: Page) -> None:
    tab.goto(at(f"en/{PAGE}") + "?family=losses#conv2d", wait_until="networkidle")
    assert "conv2d" in rows_shown(tab)
    assert tab.locator("#conv2d").evaluate("row => row.getBoundingClientRect().top < innerHeight")


@languages
@pytest.mark.parametrize(
    ("typed", "family"),
    [
        ("ThnnConv2DBackward", "convolution"),
        ("ConvolutionBackward0", "convolution"),
        ("AddmmBackward0", "products"),
        ("NllLossBackward0", "losses"),
    ],
)
def test_the_search_of_the_site_finds_the_family_first(
    tab: Page, language: str, typed: str, family: str
) -> None:
    assert sections_found(tab, language, typed)[0] == f"{at(f'{language}/{PAGE}')}#{family}"


@languages
@pytest.mark.parametrize("typed", ["Conv2d", "F.conv2d"])
def test_the_search_of_the_site_finds_the_layer_and_the_function(
    tab: Page, language: str, typed: str
) -> None:
    here = at(f"{language}/{PAGE}")
    on_the_page = [place for place in sections_found(tab, language, typed) if place.startswith(f"{here}#")]
    assert on_the_page[0] == f"{here}#convolution"


def sections_found(tab: Page, language: str, typed: str) -> list[str]:
    """The sections that the search shows, the best first."""
    tab.goto(at(f"{language}/"), wait_until="networkidle")
    field = tab.locator(".md-search__input")
    field.fill(typed)
    field.press("End")
    tab.locator(".md-search-result__item").first.wait_for(state="attached")
    links = tab.locator(".md-search-result__item a[href*='#']")
    hrefs = links.evaluate_all("links => links.map(({href, search}) => href.replace(search, ''))")
    return [href.removeprefix(SITE_URL) for href in hrefs]
