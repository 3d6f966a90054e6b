"""What is linked into a binary is what `BINARY licences` speaks of: `licences.py`.

Each static archive of the link line (targets/Host/Link.cpp) and of the pictures (runtime/CMakeLists.txt) has its notice, and each notice that must be
reproduced stands so in the copyright file of Debian's package, where that is installed. One line a failure, then the count."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# archive -> title of its notice
NOTICES = {"libstdc++.a": "libstdc++", "libgcc.a": "libgcc", "libgcc_eh.a": "libgcc", "libpng16.a": "libpng", "libpng.a": "libpng",
           "libjpeg.a": "libjpeg-turbo", "libz.a": "zlib", "libevent_core.a": "libevent"}
# notice -> where Debian keeps it, and what of it must be said (blanks aside)
SAID = {
    "/usr/share/doc/zlib1g-dev/copyright": ["warranty. In no event will the authors be held liable for any damages arising from the use of this software."],
    "/usr/share/doc/libjpeg62-turbo-dev/copyright": ["Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution."],
    "/usr/share/doc/libevent-dev/copyright": ["may not be used to endorse or promote products derived from this software without specific prior written permission."],
    "/usr/share/doc/libpng-dev/copyright": ["The PNG Reference Library is supplied \"AS IS\"."],
    "/usr/share/doc/libutf8proc-dev/copyright": ["NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.",
                                                 "to permit persons to whom the Data Files or Software are furnished to do so, provided that (a) the above copyright notice(s)"],
    "/usr/share/doc/libgcc-12-dev/copyright": ["GCC Runtime Library Exception"],
}


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8", errors="replace") as f:
        return f.read()


def main():
    notices = read("runtime", "Program", "Licences.cpp") + re.sub(r'\\n"\s*"', " ", read("runtime", "Media", "PictureNotices.c")).replace('\\"', '"')
    notices += read("runtime", "Serve", "ServeNotices.cpp") + read("runtime", "Base", "Inflate.cpp")
    plain = " ".join(notices.split())
    wrong, looked = [], 0
    linked = re.findall(r'"(lib[\w+]+\.a)"', read("targets", "Host", "Link.cpp"))
    linked += re.findall(r"NAMES ([\w. ]+) REQUIRED", read("runtime", "CMakeLists.txt").replace("\n", " "))
    for archive in " ".join(linked).split():
        looked += 1
        if archive not in NOTICES or NOTICES[archive] not in re.sub(r"[^\n]*#include[^\n]*", "", notices):
            wrong.append("%s is linked in, and BINARY licences says nothing of it" % archive)
    for path, texts in SAID.items():
        if not os.path.exists(path):
            print("no %s: its notice is not compared" % path)
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            theirs = " ".join(re.sub(r"^ \.$", "", f.read(), flags=re.M).split())
        for text in texts:
            looked += 1
            for where, said in ((path, theirs), ("BINARY licences", plain)):
                if text not in said:
                    wrong.append("%s does not say: %s" % (where, text[:80]))
    print("\n".join(wrong + ["%d notices looked at, %d wrong" % (looked, len(wrong))]))
    return int(bool(wrong) or looked < 8)


if __name__ == "__main__":
    sys.exit(main())
