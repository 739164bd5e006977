"""Serve the built site on this machine, as a static host would."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gzip
import os
import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE = Path(__file__).parent.parent / "site"


class Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".ipynb": "application/x-ipynb+json; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json; charset=utf-8",
        ".py": "text/plain; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
        ".svg": "image/svg+xml; charset=utf-8",
        ".woff2": "font/woff2",
        ".xml": "application/xml; charset=utf-8",
    }

    def end_headers(self) -> None:
        # A page that was just built again must not come from the browser's cache.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def do_GET(self) -> None:
        """Answer as hosts do, compressed where the browser takes it."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() and self.path.partition("?")[0].endswith("/") else path
        kind = self.guess_type(path)
        takes_it = "gzip" in self.headers.get("Accept-Encoding", "")
        if not path.is_file() or not takes_it or "charset" not in kind:
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes())
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def list_directory(self, path: str | os.PathLike[str]) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        language = "zh" if self.path.startswith("/zh/") else "en"
        page = Path(self.directory, language, "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.exists():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", self.extensions_map[".html"])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: a line for each request would push the address out of sight."""


class Server(ThreadingHTTPServer):
    # On Windows this option would let two servers share a port.
    allow_reuse_address = os.name == "posix"

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A browser that leaves a page drops what it was still loading: nothing to report.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def listen(site: Path, host: str, port: int) -> Server:
    """Listen on the first free port from ``port`` on."""
    while True:
        try:
            return Server((host, port), partial(Handler, directory=str(site)))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            print(f"Port {port} is busy, trying {port + 1}.", flush=True)
            port += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=SITE, help="default: site")
    parser.add_argument("--port", type=int, default=8000, help="default: 8000; 0: any free one")
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1; a container needs 0.0.0.0")
    arguments = parser.parse_args()
    if not (arguments.site / "index.html").exists():
        sys.exit(f"No site in {arguments.site}. Build it: make site, or python tools/site.py")

    with listen(arguments.site, arguments.host, arguments.port) as server:
        print(f"Serving http://{arguments.host}:{server.server_port}/ (Ctrl-C stops it)", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    print()


if __name__ == "__main__":
    main()
