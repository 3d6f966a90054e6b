"""Is FILE a well-formed picture of N attentions? `mask_svg.py FILE N`: parsed as XML; every shape inside the page, every colour a colour."""
import re
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
assert root.tag == svg + "svg", root.tag
_, _, width, height = map(float, root.get("viewBox").split())
shapes = [e for e in root.iter(svg + "rect") if e.get("x")]
for e in shapes:
    x, y, w, h = (float(e.get(k)) for k in ("x", "y", "width", "height"))
    assert 0 <= x and x + w <= width + 1e-6 and 0 <= y and y + h <= height + 1e-6, e.attrib
    assert w > 0 and h > 0 and re.fullmatch(r"#[0-9a-f]{6}|none", e.get("fill")), e.attrib
# Of fonts as wide as those named here a line stays on the page (0.62 and 0.55 of the size a character).
for e in root.iter(svg + "text"):
    style, text = e.get("class") or "", "".join(e.itertext())
    wide = {"mask": 13 * .61, "small": 11 * .57, "line": 13 * .57, "title": 15 * .62}[style.split()[0]] * len(text)
    x = float(e.get("x") or 0)
    assert "…" not in text and (0 <= x - wide if "end" in style else x + wide <= width), (style, len(text), text)
words = ["".join(e.itertext()) for e in root.iter(svg + "text")]
assert sum(w.startswith("attention ") for w in words) == int(sys.argv[2]), words
assert {"visible", "computed", "saved", "queries"} <= set(words), words
assert len(shapes) > 20 * int(sys.argv[2]), len(shapes)
