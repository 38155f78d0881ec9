"""Checks that every link of built HTML pages leads to a page and a heading: `book.py DIRECTORY`. Links to other sites are not followed."""

import html.parser
import pathlib
import sys
import urllib.parse

ROOT = pathlib.Path(sys.argv[1]).resolve()


class Page(html.parser.HTMLParser):
    """The IDs of a page, and the addresses that it refers to."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.addresses = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        self.addresses += [found[name] for name in ("href", "src") if found.get(name)]


def main():
    # One page repeats all others for printing; its links are relative to other pages.
    pages = {path: Page(path) for path in ROOT.rglob("*.html") if path.name not in ("print.html", "toc.html", "404.html")}
    broken, links = [], 0
    for path, page in pages.items():
        for address in page.addresses:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            fragment = urllib.parse.unquote(parts.fragment)
            is_there = target.is_relative_to(ROOT) and target.exists()
            if not is_there or fragment and target in pages and fragment not in pages[target].ids:
                broken.append(f"{path.relative_to(ROOT)}: {address}")
    print("\n".join(broken) or f"{len(pages)} pages, {links} links")
    return 1 if broken or links < 100 else 0


sys.exit(main())
