"""The pictures of the guide are what their script draws, and can be read: `pictures.py --heddle HEDDLE`.

In a browser (Debian's chromium; skipped, and said so, where there is none), at 1280 and 400 pixels, light
and dark: every text lies inside its picture, no two texts of a picture overlap, and text and ground differ
enough in brightness. Ends in `N passed, N failed`."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDE = os.path.join(ROOT, "examples/guide")
PICTURES = ("masks.svg", "leaves.svg", "speed.svg")
CONTRAST = 4.5  # of WCAG 2, level AA
PAGE = """<!doctype html><meta name="viewport" content="width=device-width"><style>svg { max-width: 100%; height: auto }</style>BODY
<pre id="said"></pre><script>
const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
  return .2126 * r + .7152 * g + .0722 * b };
const said = [];
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect(), ground = light(getComputedStyle(svg.querySelector(".paper")).fill);
  if (box.right > innerWidth + .5) said.push(svg.id + ": wider than the window");
  const all = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect(), light(getComputedStyle(t).fill)]);
  all.forEach(([name, r, ink], n) => {
    if (r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom) said.push(svg.id + ": outside: " + name);
    const ratio = (Math.max(ink, ground) + .05) / (Math.min(ink, ground) + .05);
    if (ratio < CONTRAST) said.push(svg.id + ": contrast " + ratio.toFixed(1) + ": " + name);
    for (const [other, q] of all.slice(n + 1))
      if (r.left < q.right && q.left < r.right && r.top + 3 < q.bottom && q.top + 3 < r.bottom) said.push(svg.id + ": overlap: " + name + " / " + other);
  });
}
document.getElementById("said").textContent = JSON.stringify(said);
</script>"""


def complaints(browser, folder, pictures, width, dark):
    """What the page finds wrong with pictures {id: SVG}; None if the browser says nothing."""
    body = "".join(svg.replace("<svg ", '<svg id="%s" ' % name, 1) for name, svg in pictures.items())
    page = os.path.join(folder, "page.html")
    with open(page, "w", encoding="utf-8") as f:
        f.write(PAGE.replace("BODY", body).replace("CONTRAST", str(CONTRAST)))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.join(folder, "profile"),
               "--window-size=%d,900" % width, "--blink-settings=preferredColorScheme=%d" % (0 if dark else 1), "--dump-dom", "file://" + page]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r'<pre id="said">(.*?)</pre>', said, re.S)
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) if found and found[1] else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", required=True)
    options = parser.parse_args()
    drawn = subprocess.run([sys.executable, os.path.join(GUIDE, "pictures.py"), "--heddle", options.heddle, "--check"], capture_output=True, text=True)
    print(drawn.stdout, end="")
    passed, failed = map(int, re.search(r"(\d+) passed, (\d+) failed", drawn.stdout).groups())
    browser = shutil.which("chromium", path=os.environ["PATH"] + ":/usr/bin")
    if not browser:
        print("skipped: no chromium here, so no picture was looked at")
    else:
        pictures = {}
        for name in PICTURES:
            with open(os.path.join(GUIDE, name), encoding="utf-8") as f:
                pictures[name] = f.read()
        wrong = {"planted": pictures["speed.svg"].replace('x="16"', 'x="-80"', 1).replace("#59636e", "#eeeeee")}
        with tempfile.TemporaryDirectory() as folder:
            for width in (1280, 400):
                for dark in (False, True):
                    found = complaints(browser, folder, pictures, width, dark)
                    good = found == []
                    passed, failed = passed + good, failed + (not good)
                    if not good:
                        print("FAIL at %d pixels, %s: %s" % (width, "dark" if dark else "light", found))
            caught = complaints(browser, folder, wrong, 1280, False)
            good = bool(caught) and any("outside" in c for c in caught) and any("contrast" in c for c in caught)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print("FAIL what is planted is not caught: %s" % caught)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
