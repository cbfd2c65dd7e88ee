# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/report.bats asks in Python: for_report.py FUNCTION ARGUMENT..."""
import base64
import hashlib
import html.parser
import json
import re
import sys


def check_page(report_html):
    text = open(report_html, encoding="utf-8").read()
    class Page(html.parser.HTMLParser):
        open, seen, void = [], [], {"meta", "br", "hr", "img", "input"}
        def handle_starttag(self, tag, pairs):
            self.seen.append((tag, dict(pairs)))
            if tag not in self.void:
                self.open.append(tag)
        def handle_endtag(self, tag):
            assert self.open and self.open.pop() == tag, (tag, self.getpos())
    page = Page()
    page.feed(text)
    assert not page.open, page.open
    assert not [t for t, _ in page.seen if t in ("link", "iframe", "object", "image", "foreignobject")]
    for tag, pairs in page.seen:
        for name, value in pairs.items():
            assert not name.startswith("on") and name != "style", (tag, name)
            if name == "src":
                assert tag == "img" and value.startswith("data:image/svg+xml;base64,"), (tag, value[:80])
            if name in ("href", "xlink:href"):
                assert value.startswith("#"), value
    assert sum(t == "img" for t, _ in page.seen) >= 1
    ids = [p["id"] for _, p in page.seen if "id" in p]
    assert len(ids) == len(set(ids)), sorted(i for i in ids if ids.count(i) > 1)
    assert {p["href"][1:] for _, p in page.seen if "href" in p} <= set(ids)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in "style", "script":
        inner = re.search(f"<{tag}>(.*?)</{tag}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy, tag


def check_calls(r_md, r_json):
    text, calls = open(r_md).read(), json.load(open(r_json))
    rows = {c[1]: c[2:-1] for c in ([x.strip() for x in line.split("|")] for line in text.split("\n")) if len(c) > 3}
    assert rows[""] == [f"call {i}" for i in range(3, 8)], rows[""]
    print(*re.findall(".* the last 5:", text), sep="\n")
    for key, name in (
        ("started", "started"),
        ("rows", "rows"),
        ("cpu", "processor"),
        ("jobs", "workers"),
        ("blas", "BLAS"),
    ):
        assert rows[name] == [str(c[key]) for c in calls[-5:]], (rows[name], name)
    assert rows["executable, SHA-256"] == [c["executable"][:12] for c in calls[-5:]]
    assert "--set trials=14 --set 'question=a b'\n" in text


globals()[sys.argv[1]](*sys.argv[2:])
