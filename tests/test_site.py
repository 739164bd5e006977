"""The built site, looked at as files: what a page loads, where it links to, what search can find."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from published import OFFLINE_SITE, REPOSITORY_URL, ROOT, SITE_URL, SOURCES, at
from topics import lessons

HTML_FILES = [at(page) if OFFLINE_SITE else f"{page}index.html" for page in SOURCES]
HTML_FILES += ["index.html", "404.html", "en/404.html", "zh/404.html"]

OTHER_HOST = re.compile(r"(?:https?:)?//[\w-]+(?:\.[\w-]+)+[^\s\"'`)]*")
HOST_IN_CODE = re.compile(rf"(?<=[\"'`]){OTHER_HOST.pattern}")
HOST_IN_STYLE = re.compile(rf"(?:url\(|@import)[\s\"']*({OTHER_HOST.pattern})")

# Addresses that stand in scripts without being asked for, each with the reason.
NEVER_ASKED = {
    "http://www.w3.org/": "names of XML vocabularies",
    "https://unpkg.com/mermaid": "Material asks for it on a page with a Mermaid block",
    "https://unpkg.com/resize-observer-polyfill": "Material asks for it in browsers before 2020",
    "https://api.github.com/": "Material asks for it when repo_url is set",
}
# Names in the data about a page, which programs read and no browser opens.
NAMES = ("https://schema.org", "https://creativecommons.org/licenses/by/4.0/")


class Html(HTMLParser):
    """The tags of a page and the code that stands in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.code = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attributes}))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.code += data

    def values(self, tag: str, attribute: str) -> list[str]:
        return [given[attribute] for name, given in self.tags if name == tag and attribute in given]

    def description(self) -> str:
        metas = [given for tag, given in self.tags if tag == "meta"]
        return next(meta["content"] for meta in metas if meta.get("name") == "description")


read = functools.cache(Html)


def test_the_site_builds(build: tuple[Path, subprocess.CompletedProcess]) -> None:
    _, done = build
    assert done.returncode == 0, done.stdout


def test_every_html_file_is_a_page(site: Path) -> None:
    assert sorted(HTML_FILES) == sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_languages_have_the_same_pages() -> None:
    english, chinese = ({page[3:] for page in SOURCES if page[:3] == home} for home in ("en/", "zh/"))
    assert english == chinese


@pytest.mark.parametrize("file", HTML_FILES)
def test_page_loads_nothing_from_elsewhere(site: Path, file: str) -> None:
    html = read(site / file)
    asked = HOST_IN_CODE.findall(html.code) + HOST_IN_STYLE.findall(html.code)
    for tag, attributes in html.tags:
        for name, value in attributes.items():
            if not (tag == "a" and name == "href") and not name.startswith("xmlns"):
                asked += OTHER_HOST.findall(value)
    assert [url for url in asked if not url.startswith((SITE_URL, *NEVER_ASKED, *NAMES))] == []


def test_files_load_nothing_from_elsewhere(site: Path) -> None:
    asked = {}
    for path in site.rglob("*"):
        patterns = {".js": HOST_IN_CODE, ".css": HOST_IN_STYLE, ".svg": OTHER_HOST}
        if path.suffix in patterns:
            for url in patterns[path.suffix].findall(path.read_text(encoding="utf-8")):
                asked[url] = path.relative_to(site).as_posix()
    assert {url: file for url, file in asked.items() if not url.startswith(tuple(NEVER_ASKED))} == {}
    for known in NEVER_ASKED:
        assert any(url.startswith(known) for url in asked), f"{known} need not be listed any more"


@pytest.mark.offline
@pytest.mark.parametrize("file", HTML_FILES)
def test_links_lead_somewhere(site: Path, file: str) -> None:
    # As if the site lay one folder down: a link that climbs too high, or starts from the top, leads
    # out of it. Only an error page has to start from the top, since it answers at any address.
    top = SITE_URL if file.endswith("404.html") else f"{SITE_URL}below/"
    links = [given[name] for _, given in read(site / file).tags for name in ("href", "src") if name in given]
    broken = []
    for link in links:
        url = urljoin(top + file, link.replace(SITE_URL, top, 1))
        if url.startswith(SITE_URL) and not exists(site, url.removeprefix(top)):
            broken.append(link)
    assert links
    assert broken == []


def exists(site: Path, path: str) -> bool:
    path, anchor = urldefrag(path)
    file = site / unquote(path)
    if not path or path.endswith("/"):
        file /= "index.html"
    if not anchor or not file.exists():
        return file.is_file()
    return any(unquote(anchor) == given.get("id") for _, given in read(file).tags)


def test_page_says_its_language(site: Path, page: str) -> None:
    assert read(site / page / "index.html").values("html", "lang") == [page[:2]]


def test_page_shows_no_code_that_nothing_checks(site: Path, page: str) -> None:
    text = (site / page / "index.html").read_text(encoding="utf-8")
    kinds = re.findall(r'<div class="language-(\w+)(?: raises| fails-on-[\d-]+)? highlight">', text)
    assert set(kinds) <= {"python", "output", "console", "diff"}, (
        "code that is indented, or in a fence of another kind"
    )
    assert text.count("<pre") == len(kinds), "a <pre> that no fence made"


def test_page_describes_itself(site: Path, page: str) -> None:
    description = read(site / page / "index.html").description()
    alike = [
        other
        for other in (f"{page[:2]}/404.html", *(f"{name}index.html" for name in SOURCES if name != page))
        if read(site / other).description() == description
    ]
    assert description
    assert alike == []


@pytest.mark.parametrize(
    ("address", "program"),
    [
        (page, f"snippets/{page[3:-1]}.py")
        for page in SOURCES
        if (ROOT / "snippets" / f"{page[3:-1]}.py").exists()
    ],
)
def test_page_leads_to_its_program(site: Path, address: str, program: str) -> None:
    links = read(site / address / "index.html").values("a", "href")
    assert SITE_URL + program in {urljoin(SITE_URL + address, link) for link in links}


@pytest.mark.parametrize("notebook", [page for page, source in SOURCES.items() if source.suffix == ".ipynb"])
def test_notebook_is_a_light_page(site: Path, notebook: str) -> None:
    text = (site / notebook / "index.html").read_text(encoding="utf-8")
    assert "language-python" in text
    assert "language-output" in text, "it was not run"
    assert "nbformat" not in text
    assert len(text.encode()) < 130_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_lesson_says_which_it_is_and_how_long_it_takes(site: Path, language: str) -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    lessons = re.findall(r"\b((?:learn|conv2d|practice)/\w+)\.md", config)
    for number, lesson in enumerate(lessons, 1):
        text = (site / language / lesson / "index.html").read_text(encoding="utf-8")
        (step,) = re.findall(r'<p class="step">(.*?)</p>', text)
        at, of, minutes = map(int, re.findall(r"\d+", step))
        assert (at, of) == (number, len(lessons))
        assert 5 <= minutes <= 30


@pytest.mark.parametrize("language", ["en", "zh"])
def test_search_knows_every_page(site: Path, language: str) -> None:
    index = json.loads((site / language / "search/search_index.json").read_text(encoding="utf-8"))
    found = {urldefrag(entry["location"]).url for entry in index["docs"]}
    # The notebook has the text of the page that it is made from.
    assert found == {page[3:] for page in SOURCES if page[:2] == language} - {"conv2d/notebook/"}


def test_chinese_search_knows_words(site: Path) -> None:
    index = json.loads((site / "zh/search/search_index.json").read_text(encoding="utf-8"))
    chinese = [entry for entry in index["docs"] if re.search("[一-鿿]{8}", entry["text"])]
    words = [entry for entry in index["docs"] if "\u200b" in entry["text"]]
    assert words, "is jieba installed?"
    assert chinese == [], "text that no word boundary divides"


def test_sitemaps_pair_the_languages(site: Path) -> None:
    for language in ("en", "zh"):
        sitemap = (site / language / "sitemap.xml").read_text(encoding="utf-8")
        listed = re.findall("<loc>(.*?)</loc>", sitemap)
        paired = re.findall('href="(.*?)"', sitemap)
        assert sorted(listed) == sorted(SITE_URL + page for page in SOURCES if page[:2] == language)
        assert sorted(paired) == sorted(SITE_URL + page for page in SOURCES)


@pytest.mark.parametrize(
    ("path", "status", "kind", "language"),
    [
        ("", 200, "text/html; charset=utf-8", "en"),
        ("zh/", 200, "text/html; charset=utf-8", "zh"),
        ("nowhere/", 404, "text/html; charset=utf-8", "en"),
        ("en/nowhere/", 404, "text/html; charset=utf-8", "en"),
        ("zh/nowhere/", 404, "text/html; charset=utf-8", "zh"),
        ("snippets/", 404, "text/html; charset=utf-8", "en"),
        ("snippets/learn/leaf_tensors.py", 200, "text/plain; charset=utf-8", None),
        ("en/assets/images/logo.svg", 200, "image/svg+xml; charset=utf-8", None),
    ],
)
def test_server_answers_like_a_host(
    served: int, path: str, status: int, kind: str, language: str | None
) -> None:
    try:
        answer = urllib.request.urlopen(f"http://127.0.0.1:{served}/{path}")
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = answer.read().decode()
    assert (answer.status, answer.headers["Content-Type"]) == (status, kind)
    if language:
        assert f'<html lang="{language}"' in text


def test_server_passes_over_a_busy_port(site: Path, served: int) -> None:
    command = [sys.executable, "tools/serve.py", site, "--port", str(served)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        lines = [server.stdout.readline()]
        while "busy" in lines[-1]:
            lines.append(server.stdout.readline())
        server.terminate()
    assert lines[0] == f"Port {served} is busy, trying {served + 1}.\n"
    assert lines[-1].startswith(f"Serving http://127.0.0.1:{served + len(lines) - 1}/")


def test_server_says_what_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, "tools/serve.py", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make site" in done.stderr


@pytest.mark.parametrize("file", [f"{page}index.html" for page in SOURCES])
def test_foot_leads_to_the_repository(site: Path, file: str) -> None:
    links = read(site / file).values("a", "href")
    assert {REPOSITORY_URL, f"{REPOSITORY_URL}/issues"} <= set(links)


def test_programs_are_published_without_marks(site: Path) -> None:
    for program in (ROOT / "snippets").rglob("*.py"):
        text = (site / program.relative_to(ROOT)).read_text(encoding="utf-8")
        assert "--8<--" not in text
        compile(text, program.name, "exec")


def test_vendored_files_are_as_they_came() -> None:
    vendor = ROOT / "docs/theme/assets/vendor"
    listed = dict(
        line.split()[::-1] for line in (vendor / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    there = {path.relative_to(vendor).as_posix(): path for path in vendor.rglob("*") if path.is_file()}
    del there["SHA256SUMS"], there["VERSIONS"]
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()} == listed


@pytest.mark.parametrize("file", HTML_FILES)
def test_no_script_runs_but_those_that_the_build_saw(site: Path, file: str) -> None:
    text = (site / file).read_text(encoding="utf-8")
    policy = re.search(r'<head><meta http-equiv="Content-Security-Policy" content="(.*?)">', text)[1]
    inline = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline}
    scripts = re.search(r"script-src ([^;]*)", policy)[1].split()
    assert set(scripts) == {"'self'"} | {f"'sha256-{one}'" for one in hashes}
    handlers = [name for _, given in read(site / file).tags for name in given if name.startswith("on")]
    assert handlers == []


def test_a_link_to_the_page_is_shown_with_words_and_a_picture(site: Path, page: str) -> None:
    html = read(site / page / "index.html")
    metas = {
        given.get("property", given.get("name")): given["content"]
        for tag, given in html.tags
        if tag == "meta" and "content" in given
    }
    assert metas["og:url"] == SITE_URL + page
    assert metas["og:description"] == html.description()
    assert exists(site, metas["og:image"].removeprefix(SITE_URL))
    about = json.loads(
        re.search(
            r'ld\+json">(.*?)</script>', (site / page / "index.html").read_text(encoding="utf-8"), re.DOTALL
        )[1]
    )
    assert about["url"] == SITE_URL + page
    assert about["name"] == metas["og:title"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_page_is_there_as_markdown_and_each_lesson_as_a_notebook(site: Path, language: str) -> None:
    pages = [
        source for page, source in SOURCES.items() if page.startswith(language) and source.suffix == ".md"
    ]
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    for source in pages:
        name = source.relative_to(ROOT / "docs").as_posix()
        text = (site / name).read_text(encoding="utf-8")
        assert f"({SITE_URL}{name})" in listed
        assert "--8<--" not in text and "<figure" not in text and "{ #" not in text
        assert 'markdown="1"' not in text and not re.search(r"[*`)]\{ \.", text)
        for link in re.findall(r'href="([^"]*snippets[./][^"]*)"', text):
            assert (site / name).parent.joinpath(link).exists(), link
        original = source.read_text(encoding="utf-8")
        for part in (r"^#{1,3} ", r"^ *```(?:python|{\.python)", r"^\|"):
            found, wanted = (len(re.findall(part, kept, re.MULTILINE)) for kept in (text, original))
            assert found >= wanted, f"{name} has lost some {part}"
    for lesson in lessons():
        notebook = json.loads((site / language / f"{lesson}.ipynb").read_text(encoding="utf-8"))
        sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert sources[0].startswith("%pip install") and REPOSITORY_URL in sources[0]
        page = (site / language / f"{lesson}.md").read_text(encoding="utf-8")
        for fence in re.findall(r"^( *)```(?:python|{\.python[^\n]*})\n(.*?)^\1```", page, re.M | re.S):
            code = textwrap.dedent(fence[1]).strip()
            assert any(source.startswith(code) for source in sources), code
