"""JSON against a schema: the words of JSON Schema that ours use.

`errors(value, schema)` gives a line for each place that breaks it."""
import json

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def errors(value, schema, root=None, path="$"):
    root = root or schema
    if schema is True:
        return
    if schema is False:
        yield "%s: there is one item too many" % path
        return
    if "$ref" in schema:
        yield from errors(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    if "anyOf" in schema and all(list(errors(value, one, root, path)) for one in schema["anyOf"]):
        yield "%s: fits none of the forms, %.60s" % (path, json.dumps(value))
    if "const" in schema and value != schema["const"]:
        yield "%s: expected %r, got %r" % (path, schema["const"], value)
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: expected one of %s, got %r" % (path, schema["enum"], value)
    if "type" in schema and not is_type(value, schema["type"]):
        yield "%s: expected %s, got %.60s" % (path, schema["type"], json.dumps(value))
        return
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield "%s: there is no %s" % (path, name)
        for name, one in value.items():
            yield from errors(one, known.get(name, schema.get("additionalProperties", True)), root, path + "." + name)
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        if len(value) < schema.get("minItems", 0):
            yield "%s: expected %d items, got %d" % (path, schema["minItems"], len(value))
        for i, one in enumerate(value):
            yield from errors(one, first[i] if i < len(first) else schema.get("items", True), root, "%s[%d]" % (path, i))
