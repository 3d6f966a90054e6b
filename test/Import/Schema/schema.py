"""The schema of descriptions against the importer: schema.py HEDDLE ROOT FOLDER.

Accepted: the library, all families, all examples, by the schema of any file and by that of the file itself. Refused: the same files with
one key misspelt, at every kind of place where keys are the language's; where heddle can read the file, it refuses it too."""
import copy
import glob
import json
import os
import re
import subprocess
import sys

HEDDLE, ROOT, WORK = sys.argv[1:4]
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

#--- a validator: the keywords that the schema uses, and no others --------------------------------------------------------------------

TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "$defs", "title", "description", "then", "else"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (isinstance(value, bool) == (name == "boolean"))


class Validator:
    def __init__(self, root):
        self.root, self.patterns = root, {}

    def found(self, pattern, text):
        return self.patterns.setdefault(pattern, re.compile(pattern)).search(text) is not None

    def valid(self, schema, v):
        return schema is True or schema is not False and all(key in NOTES or getattr(self, "k_" + key.strip("$"))(v, what, schema) for key, what in schema.items())

    def every(self, schemas, v):
        return [self.valid(s, v) for s in schemas]

    def k_ref(self, v, what, schema):
        return self.valid(self.root["$defs"][what[len("#/$defs/"):]], v)

    def k_type(self, v, what, schema):
        return any(is_type(v, t) for t in ([what] if isinstance(what, str) else what))

    def k_const(self, v, what, schema):
        return v == what and type(v) is type(what)

    def k_enum(self, v, what, schema):
        return v in what

    def k_pattern(self, v, what, schema):
        return not isinstance(v, str) or self.found(what, v)

    def k_required(self, v, what, schema):
        return not isinstance(v, dict) or all(k in v for k in what)

    def k_properties(self, v, what, schema):
        return not isinstance(v, dict) or all(self.valid(s, v[k]) for k, s in what.items() if k in v)

    def k_patternProperties(self, v, what, schema):
        return not isinstance(v, dict) or all(self.valid(s, x) for p, s in what.items() for k, x in v.items() if self.found(p, k))

    def k_additionalProperties(self, v, what, schema):
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        return not isinstance(v, dict) or all(self.valid(what, x) for k, x in v.items() if k not in known and not any(self.found(p, k) for p in patterns))

    def k_propertyNames(self, v, what, schema):
        return not isinstance(v, dict) or all(self.valid(what, k) for k in v)

    def k_minProperties(self, v, what, schema):
        return not isinstance(v, dict) or len(v) >= what

    def k_maxProperties(self, v, what, schema):
        return not isinstance(v, dict) or len(v) <= what

    def k_dependentRequired(self, v, what, schema):
        return not isinstance(v, dict) or all(k in v for key, needs in what.items() if key in v for k in needs)

    def k_items(self, v, what, schema):
        return not isinstance(v, list) or all(self.valid(what, x) for x in v)

    def k_minItems(self, v, what, schema):
        return not isinstance(v, list) or len(v) >= what

    def k_maxItems(self, v, what, schema):
        return not isinstance(v, list) or len(v) <= what

    def k_anyOf(self, v, what, schema):
        return any(self.valid(s, v) for s in what)

    def k_oneOf(self, v, what, schema):
        return sum(self.every(what, v)) == 1

    def k_allOf(self, v, what, schema):
        return all(self.valid(s, v) for s in what)

    def k_not(self, v, what, schema):
        return not self.valid(what, v)

    def k_if(self, v, what, schema):
        return self.valid(schema.get("then" if self.valid(what, v) else "else", True), v)


#--- where keys are the language's ----------------------------------------------------------------------------------------------------


def calls(call, at, kind):
    for key in call:
        yield at + (key,), kind + " " + ("op" if key == next(iter(call)) else "attribute") + " " + key


def bodies(body, at):
    for i, s in enumerate(body):
        here = at + (i,)
        group = "repeat" if "repeat" in s else "group" if "body" in s else "binding"
        for key, value in s.items():
            ours = group != "binding" or key in ("if", "about")
            if ours:
                yield here + (key,), group + " " + key
            if ours and key in ("body", "else"):
                yield from bodies(value, here + (key,))
            elif ours and key == "defaults":
                yield from defaults(value, here + (key,))
            elif not ours and isinstance(value, dict):
                yield from calls(value, here + (key,), "call")


def defaults(entries, at):
    for name, attributes in (entries or {}).items(): # null takes those of `like` away
        yield at + (name,), "defaults of"
        for a in attributes or ():
            yield at + (name, a), "defaults attribute"


def places(doc):
    """(path, kind) of every key that the language gives"""
    for key, value in doc.items():
        yield (key,), "top " + key
        if key in ("family", "weights", "generate") and isinstance(value, dict):
            for k in value:
                yield (key, k), "%s %s" % (key, k)
        elif key == "inputs":
            for name, spec in value.items():
                for k in spec if isinstance(spec, dict) else ():
                    yield (key, name, k), "input " + k
                    if k == "default" and isinstance(spec[k], dict):
                        yield from calls(spec[k], (key, name, k), "default")
        elif key == "blocks":
            for name, block in value.items():
                for k in block or ():
                    yield (key, name, k), "block " + k
                if block and "body" in block:
                    yield from bodies(block["body"], (key, name, "body"))
        elif key == "body":
            yield from bodies(value, (key,))
        elif key == "defaults":
            yield from defaults(value, (key,))


def misspelt(doc, path):
    doc = copy.deepcopy(doc)
    inside = doc
    for step in path[:-1]:
        inside = inside[step]
    renamed = {(k + "x" if k == path[-1] else k): v for k, v in inside.items()}
    inside.clear()
    inside.update(renamed)
    return doc


#--- both ------------------------------------------------------------------------------------------------------------------------------


def heddle(*words):
    return subprocess.run([HEDDLE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def schema(*words):
    r = heddle("schema", *words)
    check(r.returncode == 0, "schema %s: exit status %d, %s" % (words, r.returncode, r.stderr[:200]))
    return Validator(json.loads(r.stdout))


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def save(path, doc):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f)
    return path


def beside(path):
    """a folder with what lies beside a description, for broken ones"""
    folder = os.path.join(WORK, os.path.basename(os.path.dirname(path)))
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(os.path.dirname(path)):
        if name != "model.json" and not os.path.lexists(os.path.join(folder, name)):
            os.symlink(os.path.join(os.path.dirname(path), name), os.path.join(folder, name))
    return os.path.join(folder, "model.json")


def refuses(status, what):
    """wrong (1), not: unsupported, crashed, accepted"""
    check(status == 1, "%s: heddle check says %d" % (what, status))


def main():
    files = sorted(glob.glob(os.path.join(ROOT, "compiler", "Families", "*.json")) + glob.glob(os.path.join(ROOT, "examples", "*", "model.json")))
    library = os.path.join(ROOT, "compiler", "Import", "stdlib.json")
    check(len(files) > 55, "%d files found" % len(files))
    anyone, tried = schema(), set()
    check(anyone.valid(anyone.root, read(library)), "the library is refused")
    inputs = os.path.join(ROOT, "test", "Import", "Inputs")
    # First what heddle can read whole: an example; a family with a config.json.
    files.sort(key=lambda path: "Families" in path and not os.path.exists(os.path.join(inputs, os.path.basename(path)[:-5])))
    for path in files:
        name, doc = os.path.relpath(path, ROOT), read(path)
        own = schema(path) if "blocks" in doc or "like" in doc else anyone
        for which, validator in (("any file", anyone), ("the file", own)):
            check(validator.valid(validator.root, doc), "%s is refused by the schema of %s" % (name, which))
        family = os.path.basename(path)[:-5]
        config = os.path.join(inputs, family, "config.json")
        reads = "family" not in doc or os.path.exists(config)
        if reads:
            check(heddle("check", config if "family" in doc else path).returncode == 0, name + " is refused by heddle check")
        for at, kind in places(doc):
            # The importer refuses the keys of one kind of object alike.
            words = kind.split()
            plain = " ".join(words[:2] if words[0] in ("call", "default", "defaults") else words[:1])
            new = {kind, (plain,)} - tried
            if not new:
                continue
            tried |= new
            broken, what = misspelt(doc, at), "%s, %s" % (name, "/".join(map(str, at)))
            check(not own.valid(own.root, broken), what + " misspelt: accepted by the schema")
            if not reads or (plain,) not in new:
                continue
            if "family" in doc:
                folder = os.path.join(WORK, "families_" + family)
                save(os.path.join(folder, family + ".json"), broken)
                status = heddle("check", config, "--families=" + folder).returncode
            else:
                status = heddle("check", save(beside(path), broken)).returncode
            refuses(status, what + " misspelt")
    # An op that is misspelt, by the schema of any file too, wherever no blocks of its own could be meant.
    gpt2 = read(os.path.join(ROOT, "compiler", "Families", "gpt2.json"))
    for at, kind in places(gpt2):
        if kind.startswith("call op"):
            check(not anyone.valid(anyone.root, misspelt(gpt2, at)), "gpt2 with %s misspelt" % kind)
    # What else is a matter of keys: two ops, two names, an enumeration's spelling, groups without split, else without if.
    path = os.path.join(ROOT, "examples", "dates", "model.json")
    dates = read(path)
    for what, statement in (("two ops", {"x": {"linear": "a", "conv": "b"}}), ("no op", {"x": {"weights": "a"}}), ("two names", {"x": "=1", "y": "=2"}), ("no name", {"if": "=true"}),
                            ("an odd name", {"x-y": "=1"}), ("no expression", {"x": "1"}), ("operands", {"x": {"gather": "a"}}), ("operands of a block", {"x": {"attend": ["x"], "heads": 2}}),
                            ("an enumeration", {"x": {"linear": "a", "layout": "out"}}), ("an enumeration of a block", {"x": {"encoder_layer": "a", "heads": 2, "order": "first"}}),
                            ("groups alone", {"x": {"linear": "a", "groups": 2}}), ("else alone", {"body": [], "else": []}), ("a repeat without body", {"repeat": 2})):
        broken = {**dates, "body": dates["body"] + [statement]}
        check(not anyone.valid(anyone.root, broken), "%s: accepted by the schema" % what)
        refuses(heddle("check", save(beside(path), broken)).returncode, what)
    r = heddle("schema", save(os.path.join(WORK, "list.json"), []))
    check(r.returncode == 1 and "object expected" in r.stderr, "schema of a list: %r" % r)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
