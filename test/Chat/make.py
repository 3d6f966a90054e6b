"""Random chat templates: every tag, filter, test and method, in odd company, over one conversation."""
NAMES = "a b c m messages ns x y loop tools l d s n f bos_token nope".split()
LITERALS = ["1", "0", "2", "-3", "1.5", "true", "false", "none", "'abc'", "'A b'", "''", "'<x>'", "[1,2,3]", "[]", "{'k': 1}", "(1,2)", "'é\\n'",
            "10", "'a,b'", "\"it's\"", "['b','A','c']", "[[1,2],[3,4]]", "{'b':2,'a':[1]}", "range(3)", "'ΑΣ ß ǆ'", "1e20"]
FILTERS = """trim|upper|lower|length|list|string|first|last|join(',')|join|tojson|tojson(indent=2)|default('D')|default('E',true)|sort|unique
reverse|select|reject|map('upper')|map(attribute='role')|selectattr('role')|selectattr('role','equalto','user')|items|int|float|abs|round|round(1)
sum|max|min|title|capitalize|replace('a','X')|indent|indent(2,true)|safe|e|dictsort|count|map('int')|select('odd')|rejectattr('content')|trim('a')
tojson(sort_keys=true)|tojson(true)|sort(reverse=true)|map('length')|select('string')|map(attribute='content.x',default=0)|select('in',[1,2])
int(3,16)|round(-1)|round(1,'floor')|dictsort(by='value')|sort(attribute='role')|join('-',attribute='role')|max(attribute='n')""".replace("\n", "|").split("|")
TESTS = """defined|undefined|none|string|mapping|iterable|sequence|number|integer|float|boolean|true|false|odd|even|divisibleby 2|eq 1|in [1,2]
sameas none|lower|upper|callable|ne('a')|gt(1)""".replace("\n", "|").split("|")
MEMBERS = """split(',')|split()|strip()|lstrip('a')|rstrip()|startswith('a')|endswith('c')|replace('a','b')|upper()|lower()|title()|capitalize()
find('b')|count('a')|join(['x','y'])|isdigit()|isalpha()|items()|keys()|values()|get('k')|get('k',1)|index(1)|append(1)|role|content|k|x
splitlines()|rsplit(',',1)|removeprefix('a')|isupper()|items|0|1|length|update({})|__class__|index('a')|split(' ',1)|replace('','-',2)""".replace("\n", "|").split("|")
WHOLE = ["loop.index", "loop.last", "loop.first", "loop.index0", "loop.length", "loop.revindex", "loop.previtem", "loop.nextitem", "ns.v", "m.content",
         "messages[0].role", "messages[-1]['content']", "loop.cycle(1,2)", "loop.changed(x)", "f(b=1)", "caller()", "dict(a=1)", "range(1,4)",
         "namespace(q=1)", "'%5.2f|%-6s|%03d' % (2.345, x, 7)", "varargs", "kwargs", "f(*l)", "f(**{'a': 1})"]
REQUEST = {"messages": [{"role": "user", "content": "Hi <b>"}, {"role": "assistant", "content": None},
                        {"role": "user", "content": [{"type": "text", "text": "p"}]}]}
VARIABLES = {"l": [3, 1, 2], "d": {"k": 1, "z": "a"}, "s": "hello World", "n": 7, "bos_token": "<s>"}


class Maker:
    def __init__(self, random):
        self.random = random

    def one(self, *all):
        return self.random.choice(all)

    def expression(self, depth):
        pick, e = self.random.choice, lambda: self.expression(depth - 1)
        if depth <= 0:
            return self.one(pick(LITERALS), pick(NAMES), pick(NAMES))
        made = self.random.randrange(16)
        if made == 0:
            return "%s %s %s" % (e(), pick(["+", "+", "-", "*", "/", "//", "%", "**", "~", "~"]), e())
        if made == 1:
            return "%s %s %s" % (e(), pick(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), e())
        if made == 2:
            return "%s %s %s" % (e(), pick(["and", "or"]), e())
        if made == 3:
            return "not " + e()
        if made == 4:
            return "(%s)" % e()
        if made in (5, 6):
            return "%s | %s%s" % (e(), pick(FILTERS), self.one("", "", " | list"))
        if made == 7:
            return "%s is %s%s" % (e(), self.one("", "not "), pick(TESTS))
        if made in (8, 9):
            return "%s.%s" % (self.one(e(), "(" + e() + ")"), pick(MEMBERS))
        if made == 10:
            return "(%s)[%s]" % (e(), self.one(e(), "1:", ":2", "::-1", "-1", "0", "'role'", "'k'", "-2:1:-1"))
        if made == 11:
            return "%s if %s%s" % (e(), e(), self.one("", " else " + e()))
        if made == 12:
            return "[%s, %s]" % (e(), e())
        if made == 13:
            return "{'q': %s, %s: 1}" % (e(), self.one("'z'", "2", e()))
        return "-" + e() if made == 14 else self.one("f(%s)" % e(), *WHOLE)

    def space(self):
        return self.one("", " ", "\n", "  \n  ", "\t", "\r\n", "text ", "\n\n")

    def tag(self, inside):
        return "{%%%s %s %s%%}" % (self.one("", "", "", "-", "+"), inside, self.one("", "", "", "-", "+"))

    def body(self, depth):
        return "".join(self.space() + self.statement(depth) + self.space() for _ in range(self.random.randrange(3)))

    def statement(self, depth):
        tag, body, e, one = self.tag, lambda: self.body(depth - 1), self.expression, self.one
        made = self.random.randrange(14)
        if made < 4 or depth <= 0:
            return "{{%s %s %s}}" % (one("", "", "-"), e(self.random.randrange(1, 4)), one("", "", "-"))
        if made == 4:
            return tag("if " + e(2)) + body() + one("", tag("elif " + e(1)) + body()) + one("", tag("else") + body()) + tag("endif")
        if made in (5, 6):
            out = one("", tag(one("break", "continue")), "{% if loop.first %}" + tag(one("break", "continue")) + "{% endif %}")
            head = "for %s in %s%s" % (one("x", "y", "m", "x, y"), one(e(1), "messages", "l", "[1,2,3]", "d.items()", "range(4)"), one("", "", " if " + e(1)))
            return tag(head) + body() + out + one("", "", tag("else") + body()) + tag("endfor")
        if made in (7, 8):
            return tag("set %s = %s" % (one("a", "b", "c", "x", "y", "ns.v", "n", "messages"), e(2)))
        if made == 9:
            return tag("set %s%s" % (one("a", "b", "x"), one("", " | upper"))) + body() + tag("endset")
        if made == 10:
            return tag("macro f(%s)" % one("", "a", "a, b=2", "a=1, b=a", "x")) + body() + tag("endmacro")
        if made == 11:
            return tag("with %s = %s" % (one("a", "x"), e(1))) + body() + tag("endwith")
        if made == 12:
            return one(tag("filter upper") + body() + tag("endfilter"), tag("generation") + body() + tag("endgeneration"),
                       tag("call f(1)") + body() + tag("endcall"), tag("call(x) f(2)") + body() + tag("endcall"), "{#" + self.space() + "#}")
        return "{% raw %}{{ x }}{% endraw %}"

    def template(self):
        head = self.one("", "{% set ns = namespace(v=1) %}") + self.one("", "{% macro f(a, b=2) %}[{{ a }}{{ b }}]{% endmacro %}")
        return head + "".join(self.space() + self.statement(3) + self.space() for _ in range(self.random.randrange(1, 4)))
