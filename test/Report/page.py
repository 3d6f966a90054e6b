"""Opens reports in headless Chromium and holds them to what a page must be: page.py [--pictures FOLDER] [--all] REPORT.html...

Views fit at 1400 and 420 pixels, in the light and in the dark; colours have contrast; the policy holds; keys, links and print work;
nothing is said on the console and nothing asked for. --pictures writes a picture of each view, --all opens every statement and pass.
Skipped, and said so, where there is no Chromium."""
import os
import re
import shutil
import sys
import time

from browser import Browser

VIEWS = ["overview", "model", "passes", "masks", "memory", "roofline", "remarks", "files"]
KINDS = ["linear", "attention", "norm", "elementwise", "lookup", "cache", "mask", "move"]
# front, back, least contrast: 7 for texts, 4.5 for small words, 3 for what is drawn (WCAG 2.2, 1.4.3, 1.4.6 and 1.4.11)
CONTRAST = [("ink", "bg", 7), ("muted", "bg", 4.5), ("muted", "soft", 4.5), ("accent", "bg", 4.5), ("ink", "add", 7), ("ink", "drop", 7),
            ("add-ink", "add", 4.5), ("drop-ink", "drop", 4.5), ("attr", "soft", 4.5), ("sym", "soft", 4.5), ("num", "soft", 4.5),
            ("str", "soft", 4.5)] + [(kind, "bg", 3) for kind in KINDS if kind not in ("elementwise", "mask")]
COLOURS = """(() => { const e = document.createElement('i'), out = {}; document.body.append(e);
for (const n of %s) { e.style.color = 'var(--' + n + ')'; out[n] = getComputedStyle(e).color.match(/[\\d.]+/g).slice(0, 3).map(Number); }
e.remove(); return out; })()""" % sorted({n for row in CONTRAST for n in row[:2]})


def luminance(rgb):
    parts = [c / 255 for c in rgb]
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    x, y = sorted([luminance(a), luminance(b)], reverse=True)
    return (x + 0.05) / (y + 0.05)


class Page:
    def __init__(self, browser, file, bad):
        self.b, self.file, self.name, self.bad = browser, file, os.path.basename(file), bad

    def hold(self, what, good, detail=""):
        if not good:
            self.bad.append("%s: %s %s" % (self.name, what, detail))

    def policy(self):
        """What the page's policy must forbid; its words on the console are then dropped."""
        for code, words in (("eval('1')", "eval"), ("new Function('return 1')()", "Function")):
            self.hold("the policy forbids " + words, self.b.run("(() => { try { %s; return false; } catch { return true; } })()" % code))
        self.hold("the policy forbids requests", self.b.run("fetch('http://127.0.0.1:9/').then(() => false, () => true)"))
        self.hold("the policy forbids markup", self.b.run(
            "(() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return false; } catch { return true; } })()"))
        self.hold("the policy forbids style attributes", self.b.run(
            "(() => { const p = document.createElement('p'); p.setAttribute('style', 'width: 7px'); return p.style.width === ''; })()"))
        del self.b.said[:], self.b.asked[:]

    def views(self, pictures):
        for width in (1400, 420):
            for dark in (False, True):
                theme = "dark" if dark else "light"
                for view in VIEWS:
                    self.b.open(self.file, "#" + view, width=width, dark=dark)
                    over = self.b.run("document.documentElement.scrollWidth - innerWidth")
                    self.hold("%s at %d pixels fits" % (view, width), over <= 0, "%s too wide" % over)
                    self.hold(view + " has something", self.b.run("document.querySelector('main').innerText.length > 60"))
                    if pictures:
                        self.b.picture(os.path.join(pictures, "%s-%s-%d-%s.png" % (self.name.split(".")[0], view, width, theme)), whole=True)
                colours = self.b.run(COLOURS)
                for front, back, least in CONTRAST:
                    got = contrast(colours[front], colours[back])
                    self.hold("%s on %s, %s" % (front, back, theme), got >= least, "%.2f in place of %s" % (got, least))

    def details(self, pictures):
        """A statement, and a pass that changed something."""
        nodes = self.b.run("document.querySelectorAll('.row').length")
        for hash, what in (("#model/%d" % max(1, nodes // 2), "statement"), ("#passes/12", "pass")):
            for width in (1400, 420):
                self.b.open(self.file, hash, width=width, dark=width == 420)
                self.b.settle(0.3)
                over = self.b.run("document.documentElement.scrollWidth - innerWidth")
                self.hold("%s at %d pixels fits" % (what, width), over <= 0, "%s too wide" % over)
                if pictures:
                    self.b.picture(os.path.join(pictures, "%s-%s-%d.png" % (self.name.split(".")[0], what, width)), whole=True)

    def links(self):
        for view in VIEWS:
            self.b.open(self.file, "#" + view)
            hrefs = self.b.run("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
            wrong = [x for x in hrefs if not re.match(r"^#(%s)(/\d+)?$" % "|".join(VIEWS), x)]
            self.hold("links of %s lead somewhere" % view, not wrong, wrong[:4])

    def keys(self):
        b = self.b
        b.open(self.file, "#model")
        self.hold("there are rows", b.run("document.querySelectorAll('.row').length > 0"))
        steps = (("j", "!!document.querySelector('.row.selected')", "j chooses a statement"),
                 ("Escape", "!document.querySelector('.row.selected')", "Escape closes it"),
                 ("/", "document.activeElement.id === 'search'", "/ searches"))
        for key, test, what in steps:
            b.key(key)
            time.sleep(0.2)
            self.hold(what, b.run(test))
        b.run("document.activeElement.blur()")
        for key, test, what in (("3", "location.hash === '#passes'", "3 is the passes"),
                                ("j", r"/^#passes\/\d+$/.test(location.hash)", "j chooses a pass"),
                                ("t", "!!document.documentElement.dataset.theme", "t changes the theme")):
            b.key(key)
            b.settle(0.2)
            self.hold(what, b.run(test))
        b.run("document.querySelector('nav.top a').focus()")
        self.hold("focus is seen", b.run("getComputedStyle(document.querySelector('nav.top a')).outlineStyle") is not None)

    def everything(self):
        """Opens statements and passes; an exception would be said."""
        counts = self.b.run("(location.hash = '#model', [document.querySelectorAll('.row').length])")
        for i in range(0, 400, max(1, counts[0] // 60)):
            self.b.run("location.hash = '#model/%d'" % i)
            self.b.settle(0.1)
        for i in range(40):
            self.b.run("location.hash = '#passes/%d'" % i)
            self.b.settle(0.1)

    def prints(self):
        self.b.open(self.file)
        pdf = self.b.pdf()
        self.hold("prints every view", len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4)


def main():
    words = sys.argv[1:]
    pictures = words.pop(words.index("--pictures") + 1) if "--pictures" in words else None
    if not shutil.which("chromium"):
        print("skipped: there is no chromium")
        return 0
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    bad, browser = [], Browser()
    for file in (w for w in words if not w.startswith("--")):
        page = Page(browser, file, bad)
        browser.open(file)  # the first page of a cold browser is slow
        browser.said.clear(), browser.asked.clear()
        ready = browser.open(file)
        page.hold("opens within a second", browser.seconds < 1.0, "%.2f s" % browser.seconds)
        page.policy()
        page.views(pictures)
        page.details(pictures)
        page.links()
        page.keys()
        if "--all" in words:
            page.everything()
        page.prints()
        page.hold("says nothing", not browser.said, browser.said[:3])
        asked = {u for u in browser.asked if not u.startswith(("file://", "about:", "data:", "blob:"))}
        page.hold("asks for nothing", not asked, asked)
        print("%s: ready in %s ms, opened in %.2f s" % (page.name, ready, browser.seconds))
    browser.close()
    print("\n".join(bad) if bad else "all hold")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
