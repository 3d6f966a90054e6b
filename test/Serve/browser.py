"""Debian's chromium without a window, spoken to over two pipes (its DevTools protocol, messages that end in a zero byte)."""
import json
import os
import shutil
import subprocess
import tempfile
import time


def found():
    return shutil.which("chromium")


class Browser:
    """One page. `requests`: addresses that it has asked for; `complaints`: errors, exceptions, breaches of its policy."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-browser-", ignore_cleanup_errors=True)
        here, theirs = os.pipe(), os.pipe()  # to the browser, from it

        def place():
            # What the browser knows as 3 and 4; first out of the way of each other.
            a, b = os.dup2(here[0], 30), os.dup2(theirs[1], 31)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([found(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                                         "--user-data-dir=" + self.folder.name, "--remote-debugging-pipe", "about:blank"],
                                        preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(here[0])
        os.close(theirs[1])
        self.out, self.into = os.fdopen(here[1], "wb", 0), os.fdopen(theirs[0], "rb", 0)
        self.number, self.rest, self.session = 0, b"", None
        self.requests, self.complaints = [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime", "Audits"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.out.close()
        self.into.close()
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            piece = self.into.read(1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, **params):
        self.number += 1
        said = {"id": self.number, "method": method, "params": params}
        if self.session:
            said["sessionId"] = self.session
        self.out.write(json.dumps(said).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError("%s: %r" % (method, got["error"]))
                return got["result"]
            what = got.get("method", "")
            if what == "Network.requestWillBeSent":
                self.requests.append(got["params"]["request"]["url"])
            elif what in ("Runtime.exceptionThrown", "Audits.issueAdded") or (what == "Log.entryAdded" and got["params"]["entry"]["level"] == "error"):
                self.complaints.append(got["params"])

    def value(self, script):
        """What an expression of JavaScript is."""
        return self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)["result"].get("value")

    def until(self, script, seconds=60):
        """Waits until an expression is true; whether it became so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(script):
                return True
            time.sleep(0.05)
        return False

    def open(self, url, ready):
        self.ask("Page.navigate", url=url)
        return self.until(ready)

    def type(self, place, text):
        """Types into an element, as a keyboard would."""
        self.value("document.getElementById(%s).focus()" % json.dumps(place))
        self.ask("Input.insertText", text=text)

    def press(self, key):
        code = {"Enter": 13, "Escape": 27, "Tab": 9}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)
