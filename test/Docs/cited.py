"""No text of the tree names a file that is not there: `cited.py [ROOT]`.

Looked at: documents outside of their fenced blocks, and the comments of sources. A name with a folder must be a path from the root,
from the text's own folder, or the end of a path of the tree; a link must lead from the document to a file; a bare name must be
somebody's. `../shared/` is not part of the repository and may be named by tests alone. Prints a line `path:line: name` for each breach
and the number of names that were looked up; exit status 1 if there is any breach."""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMENTS = {".cpp": "//", ".h": "//", ".c": "//", ".def": "//", ".td": "//", ".inc": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#"}
ENDINGS = r"md|cpp|h|c|td|def|py|sh|json|test|mlir|cmake|txt|in|safetensors|png"
NAME = re.compile(r"(?<![\w.*{}<>$%%/-])((?:\.\./)*(?:[\w.+-]+/)*[\w+-][\w.+-]*\.(?:%s))(?![\w*{}<>(/-]|\.\w)" % ENDINGS)
FOLDER = re.compile(r"(?<![\w./-])((?:compiler|dialects|targets|runtime|test|examples)/[\w/-]+)(?![\w*{}<>(.,/-]*[*{}<>])")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# What users, published directories and builds have, what LLVM, the C library and the system bring, and stand-ins for names.
THEIRS = re.compile(
    r"""(?x) (?:.*/)? (?:
      (?:config|model|preprocessor_config|processor_config|generation_config|tokenizer|target_tokenizer|tokenizer_config|chat_template|special_tokens_map|vocab|vocab-src|target_vocab|merges|added_tokens
        |sentencepiece|modules|index|meta|report|input|inputs|output|out|in|given|expected|real|weights|result|file|x|a|b|batch|nightly)\.(?:json|txt|safetensors|md|png|py)
      | (?:adapter|quantize|sentence_bert|config_sentence_transformers)_config\.json | model\.safetensors\.index\.json | heddle-crash\.mlir | [A-Z_]+\.\w+ | .*\.inc | .*_generated\.\w+
      | (?:png|jpeglib|zlib|unistd|math|stdint|cpuid|immintrin|cuda)\.h | llvm/.* | mlir/.* | (?:modeling|configuration|generation|feature_extraction)_\w+\.py
      | ggml(?:-\w+)?\.[ch] | build/.* | \.\w+ | (?:FOLDER|DIR|families)/.* | \w\.\w\.\w | File\.td | llama\.cpp
      | (?:link|repeat)\.sh | card\.txt | NN-PASS\.mlir )""")


def tree():
    for top, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if f not in (".git", "build", "__pycache__") and not f.startswith("build"))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(top, name), ROOT)


def texts(path):
    """(line number, text) of what is prose."""
    mark = COMMENTS.get(os.path.splitext(path)[1])
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        fenced = quoted = False
        for number, line in enumerate(f, 1):
            if path.endswith(".md"):
                fenced ^= line.lstrip().startswith("```")
                if not fenced:
                    yield number, line
            elif path.endswith(".py") and line.count('"""') % 2:
                quoted = not quoted
                yield number, line
            elif quoted:
                yield number, line
            elif mark in line:
                yield number, line[line.index(mark):]


def main():
    files = list(tree())
    whole, names, ends = set(files), {os.path.basename(f) for f in files}, set()
    for f in files:
        parts = f.split("/")
        ends.update("/".join(parts[i:]) for i in range(len(parts)))
    folders = {os.path.dirname(e) for e in ends if e in whole}
    folders |= {"/".join(f.split("/")[:i]) for f in folders for i in range(1, f.count("/") + 2)}
    breaches = looked = 0
    for path in files:
        if not path.endswith(".md") and os.path.splitext(path)[1] not in COMMENTS:
            continue
        here, made = os.path.dirname(path), set()
        if path.endswith(".md"):
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                made = set(re.findall(r"<!-- file: (.*?) -->", f.read()))
        for number, text in texts(path):
            for link in LINK.findall(text) if path.endswith(".md") else []:
                looked += 1
                if not os.path.exists(os.path.join(ROOT, here, link)):
                    print("%s:%d: a link to %s, which is not there" % (path, number, link))
                    breaches += 1
            for name in NAME.findall(LINK.sub("](", text)):
                if name.startswith("../shared/") and path.startswith("test/") or re.search(r"\w\.\.", name):
                    continue
                looked += 1
                if "/" in name:
                    there = name in ends or os.path.normpath(os.path.join(here, name)) in whole
                else:
                    there = name in names
                if not there and name not in made and not THEIRS.fullmatch(name):
                    print("%s:%d: %s is not in the tree" % (path, number, name))
                    breaches += 1
            for name in FOLDER.findall(LINK.sub("](", text)):
                looked += 1
                stem = name.rstrip("/-")
                if stem.split("/")[-1].isupper():  # compiler/Families/NAME.json
                    continue
                if stem not in folders and stem not in whole and not any(f.startswith(stem + ".") or f.startswith(stem) and stem.split("/")[-1][:1].isupper() for f in files):
                    print("%s:%d: %s is not in the tree" % (path, number, name))
                    breaches += 1
    print("%d names looked up, %d not there" % (looked, breaches))
    return int(breaches > 0 or looked < 100)


if __name__ == "__main__":
    sys.exit(main())
