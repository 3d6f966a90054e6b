#!/usr/bin/python3
"""The server's page: its head and bytes, and, where there is Debian's chromium, how it works in a browser.

    page.py --heddle BIN [-v]

In a browser: a text that is streamed is that of the command line, stop, retry, the key, an encoder's form, nothing asked of any
other origin, no complaint about its policy. One line a failure, then `N passed, N failed`."""
import argparse
import base64
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from browser import Browser, found
from serving import ROOT, Counts, Server, compile_example

POLICY = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def head_and_bytes(t, server):
    status, head, data = server.request("GET", "/")
    t.check("status and type", status == 200 and head["content-type"] == "text/html; charset=utf-8" and head["content-encoding"] == "gzip", head)
    page = gzip.decompress(data)
    with open(os.path.join(ROOT, "runtime", "Serve", "Page.html"), "rb") as file:
        t.check("the file", page == file.read())
    t.check("size", len(page) <= 24 << 10 and len(data) < len(page), (len(page), len(data)))
    t.check("no time in it", data[4:8] == b"\0\0\0\0", data[:10])

    def digest(tag):
        inside = re.findall(b"<%s>(.*?)</%s>" % (tag, tag), page, re.S)
        t.check("one element %s" % tag.decode(), len(inside) == 1 and page.count(b"<" + tag) == 1)
        return base64.b64encode(hashlib.sha256(inside[0]).digest()).decode()

    t.check("policy", head["content-security-policy"] == POLICY % (digest(b"script"), digest(b"style")), head["content-security-policy"])
    t.check("other fields", head["x-content-type-options"] == "nosniff" and head["referrer-policy"] == "no-referrer" and head["cache-control"] == "no-store", head)
    t.check("no other origin", not re.search(rb"(?i)https?:|//[a-z0-9]|\bsrc=|<(iframe|object|embed|form[^>]*action)", re.sub(rb"//[ -]", b"", page)))
    t.check("no text read as HTML", not re.search(rb"(?i)innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", page))
    t.check("nothing that the policy forbids", not re.search(rb"(?i)<[^>]+\s(on\w+|style)=", page))
    t.check("nothing is stored", not re.search(rb"localStorage|sessionStorage|indexedDB|cookie", page))
    labelled = re.findall(rb"<(?:input|textarea) id=\"(\w+)\"", re.sub(rb"(?s)<label.*?</label>", b"", page))
    t.check("every field has a label", not labelled, labelled)


def clean(t, browser, server, what):
    origin = "http://127.0.0.1:%d/" % server.port
    foreign = [url for url in browser.requests if not url.startswith((origin, "about:", "data:"))]
    t.check(what + ": nothing of other origins", not foreign and any(url == origin for url in browser.requests), foreign)
    t.check(what + ": no complaints", not browser.complaints, browser.complaints)
    browser.requests, browser.complaints = [], []


def texts(t, browser, binary):
    with Server(binary) as server:
        t.check("opens", browser.open("http://127.0.0.1:%d/" % server.port, "document.getElementById('texts')?.hidden === false"))
        t.check("the model's name", browser.value("document.title") == "stories" and browser.value("document.activeElement.id") == "said")
        prompt = "Once upon a time"
        want = subprocess.run([binary, "generate", "--text", prompt, "-n", "30", "--greedy"], check=True, stdout=subprocess.PIPE).stdout.decode()[len(prompt):-1]
        browser.value("document.querySelector('details').open = true")
        for field, value in (("temperature", "0"), ("max_tokens", "30")):
            browser.type(field, value)
        browser.type("said", prompt)
        browser.press("Enter")
        done = "document.getElementById('status').textContent.startsWith(%r) && !running"
        t.check("answers", browser.until(done % "Done"), browser.value("document.body.innerText"))
        answer = "document.querySelector('li.assistant p').textContent"
        t.check("as the command line", browser.value(answer) == want, browser.value(answer))
        t.check("tokens a second", re.fullmatch(r"Done: 30 tokens, [\d.]+ a second", browser.value("document.getElementById('status').textContent")))
        browser.value("document.getElementById('retry').click()")
        t.check("retry", browser.until(done % "Done") and browser.value("document.querySelectorAll('li.assistant').length") == 1 and browser.value(answer) == want)
        # Before the first piece has come; the empty answer is dropped.
        browser.value("document.getElementById('said').value = 'Once'; document.getElementById('ask').requestSubmit(); document.getElementById('stop').click()")
        t.check("stop", browser.until(done % "Stopped") and browser.value("turns.length") == 3, browser.value("document.getElementById('status').textContent"))
        browser.value("document.getElementById('clear').click()")
        browser.type("said", "<img src=x onerror=alert(1)>")
        browser.press("Enter")
        t.check("a text is a text", browser.until(done % "Done") and browser.value("document.querySelector('li.user p').textContent") == "<img src=x onerror=alert(1)>" and
                browser.value("document.images.length") == 0)
        clean(t, browser, server, "texts")
        # An error of the server is said; the browser notes the status as well.
        browser.value("document.getElementById('said').value = ' cat'.repeat(400); document.getElementById('ask').requestSubmit(); 0")
        t.check("an error is said", browser.until("document.getElementById('error').textContent.includes('256')"), browser.value("document.body.innerText"))
        browser.requests, browser.complaints = [], []
        t.check("stops", server.stop() == 0)


def behind_a_key(t, browser, binary, work):
    keys = os.path.join(work, "keys")
    with open(keys, "w") as file:
        file.write("0123456789abcdef\n")
    os.chmod(keys, 0o600)
    with Server(binary, "--api-key-file", keys) as server:
        t.check("asks for the key", browser.open("http://127.0.0.1:%d/" % server.port, "document.getElementById('keyForm')?.hidden === false"))
        browser.complaints = []  # the 401
        browser.type("key", "0123456789abcdef")
        browser.press("Enter")
        t.check("takes the key", browser.until("!document.getElementById('texts').hidden && document.getElementById('keyForm').hidden"))
        clean(t, browser, server, "key")


def encoder(t, browser, binary):
    with Server(binary) as server:
        t.check("an encoder's form", browser.open("http://127.0.0.1:%d/" % server.port, "document.getElementById('encoder')?.hidden === false"))
        browser.type("input", "a good film")
        browser.value("document.getElementById('read').requestSubmit()")
        t.check("labels", browser.until("document.querySelector('#result td')?.textContent === 'positive'"), browser.value("document.body.innerText"))
        clean(t, browser, server, "encoder")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t, heddle = Counts(o.v), os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-page-") as work:
        binary, sentiment = compile_example(heddle, work), compile_example(heddle, work, "sentiment")
        with Server(binary) as server:
            head_and_bytes(t, server)
        if not found():
            t.skip("there is no chromium, so the page is not tried in a browser")
        else:
            with Browser() as browser:
                texts(t, browser, binary)
                behind_a_key(t, browser, binary, work)
                encoder(t, browser, sentiment)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
