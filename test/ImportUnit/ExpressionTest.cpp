// The grammar by example: how operators bind, and where a mistake is said to be.
#include "compiler/Import/Description/Expression.h"
#include "compiler/Import/Json/Diagnostics.h"

#include <gtest/gtest.h>

using namespace heddle;

static std::string tree(const Expr *e) {
  if (!e)
    return "?";
  auto args = [&](const std::string &head) {
    std::string out = "(" + head;
    for (const Expr *a : e->args)
      out += " " + tree(a);
    return out;
  };
  switch (e->kind) {
  case Expr::Kind::Null: return "null";
  case Expr::Kind::Bool: return e->integer ? "true" : "false";
  case Expr::Kind::Integer: return std::to_string(e->integer);
  case Expr::Kind::Real: return "real";
  case Expr::Kind::String: return "'" + e->text + "'";
  case Expr::Kind::Name: return e->text;
  case Expr::Kind::List: return args("list") + ")";
  case Expr::Kind::Negate: return args("neg") + ")";
  case Expr::Kind::Not: return args("not") + ")";
  case Expr::Kind::Binary: return args(e->text) + ")";
  case Expr::Kind::Coalesce: return args("??") + ")";
  case Expr::Kind::Conditional: return args("?:") + ")";
  case Expr::Kind::Call: return args("call " + e->text) + ")";
  case Expr::Kind::Member: return args("." + e->text) + ")";
  case Expr::Kind::Index: {
    std::string out = args("at");
    for (auto &s : e->subscripts)
      out += " " + (s.first ? tree(s.first) : std::string("_")) +
             (s.slice ? ":" + (s.last ? tree(s.last) : std::string("_")) : "");
    return out + ")";
  }
  }
  return "";
}

static std::pair<std::string, std::string> read(const std::string &text) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("e", "\"=" + text + "\"");
  JsonValue v;
  v.kind = JsonValue::Kind::String;
  v.string = "=" + text;
  v.loc = {&f, 0};
  Expressions all(sink);
  std::string shown = tree(all.ofValue(v)), out;
  llvm::raw_string_ostream os(out);
  sink.print(os);
  return {shown, out};
}

TEST(Expression, Precedence) {
  for (auto [text, want] : std::vector<std::pair<std::string, std::string>>{
           {"a ?? b ? c : d ? e : f", "(?: (?? a b) c (?: d e f))"},
           {"a or b and not c == d + 1", "(or a (and b (not (== c (+ d 1)))))"},
           {"-x ** 2", "(neg (** x 2))"},
           {"2 ** -x", "(** 2 (neg x))"},
           {"a ** b ** c", "(** a (** b c))"},
           {"-T % block", "(% (neg T) block)"},
           {"a - b - c", "(- (- a b) c)"},
           {"a < b < c", "(< (< a b) c)"},
           {"a ?? b ?? c", "(?? a (?? b c))"},
           {"a * b + c // d", "(+ (* a b) (// c d))"},
           {"not a and b", "(and (not a) b)"},
           {"'x' in ff", "(in 'x' ff)"},
           {"f(a, b)[0, :, 1:, :n, null].m", "(.m (at (call f a b) 0 _:_ 1:_ _:n null))"},
           {"x[a ? b : c]", "(at x (?: a b c))"},
           {"[1, [2]]", "(list 1 (list 2))"},
           {"rope.b.0", "(.0 (.b rope))"},
           {"(a)", "a"}}) {
    auto [shown, messages] = read(text);
    EXPECT_EQ(shown, want) << messages;
  }
}

TEST(Expression, MistakesHaveAPlace) {
  for (auto [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"(1 + 2", "e:1:9: error[H0309]: $: expected ')', found the end"},
           {"1 + * 2", "e:1:7: error[H0309]: $: expected a value, found '*'"},
           {"x[::2]", "e:1:6: error[H0309]: $: a slice has no step"},
           {"a = b", "e:1:5: error[H0309]: $: expected an expression, found '='; equality is '=='"},
           {"a && b", "say 'and'"},
           {"'abc", "e:1:3: error[H0309]: $: expected a closing '"},
           {"a b", "e:1:5: error[H0309]: $: unexpected 'b'"},
           {"f(a b)", "e:1:7: error[H0309]: $: expected ',' or ')', found 'b'"},
           {"1(2)", "only a function can be called"},
           {"and", "expected a value, found 'and'"},
           {"", "expected a value, found the end"},
           {"99999999999999999999", "does not fit 64 bits"},
           {"x[]", "expected a subscript"}}) {
    auto [shown, messages] = read(text);
    EXPECT_NE(messages.find(words), std::string::npos) << text << ": " << messages;
  }
}

TEST(Expression, DepthAndLengthAreBounded) {
  std::string chain = "1", parens = std::string(100000, '(') + "1", minus = std::string(50000, '-') + "1";
  for (int i = 0; i < 3000; ++i)
    chain += " + 1";
  EXPECT_NE(read(chain).second.find("error"), std::string::npos);
  EXPECT_NE(read(parens).second.find("error"), std::string::npos);
  EXPECT_NE(read(minus).second.find("error"), std::string::npos);
  EXPECT_NE(read(std::string(6000, '[')).second.find("error"), std::string::npos);
}

TEST(Expression, NamesWithTheirMembers) {
  DiagnosticSink sink;
  SourceFile &f = sink.addFile("e", "");
  Expressions all(sink);
  std::string found;
  namesIn(all.ofText("rope.factor ?? min(a, b[c].d) ? 'x' : y", {&f, 0}),
          [&](llvm::StringRef n, Loc) { found += n.str() + " "; });
  EXPECT_EQ(found, "rope.factor a b c y ");
}
