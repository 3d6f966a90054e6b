// The parser of expressions: a scanner into tokens, and recursive descent with one function for each line of the
// grammar (language.md section 3).
#include "compiler/Import/Description/Expression.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct Token {
  enum Kind { End, Number, Text, Word, Op } kind = End;
  StringRef text;
  size_t at = 0;
};
// Limits of depth and length. Trees are walked recursively, and a hostile text must not exhaust the stack.
constexpr unsigned maxDepth = 200;
constexpr size_t maxTokens = 5000;
} // namespace

namespace heddle {
/// Parses one text. The first error is reported and ends it; every function then returns null. `place` gives the place
/// in the user's file of a byte of the text.
class ExprParser {
public:
  ExprParser(Expressions &owner, StringRef text, llvm::function_ref<Loc(size_t)> place, const JsonValue *context)
      : owner(owner), text(text), place(place), context(context) {}

  const Expr *run() {
    if (!scan())
      return nullptr;
    const Expr *e = expr();
    if (e && !is(Token::End))
      return fail(peek().at, "unexpected " + found());
    return e;
  }

private:
  //===--- tokens ---------------------------------------------------------------===//
  /// Splits the text into tokens: numbers (1, 1.5, 1e-5), 'texts', words, and operators of one or two characters.
  bool scan() {
    size_t at = 0;
    while (true) {
      while (at < text.size() && llvm::isSpace(text[at]))
        ++at;
      if (at == text.size())
        break;
      Token t;
      t.at = at;
      char c = text[at];
      size_t end = at;
      if (llvm::isDigit(c)) {
        t.kind = Token::Number;
        while (end < text.size() && llvm::isDigit(text[end]))
          ++end;
        if (end < text.size() && text[end] == '.')
          for (++end; end < text.size() && llvm::isDigit(text[end]);)
            ++end;
        size_t e = end;
        if (e < text.size() && (text[e] == 'e' || text[e] == 'E')) {
          ++e;
          if (e < text.size() && (text[e] == '+' || text[e] == '-'))
            ++e;
          if (e < text.size() && llvm::isDigit(text[e])) {
            while (e < text.size() && llvm::isDigit(text[e]))
              ++e;
            end = e;
          }
        }
      } else if (c == '\'') {
        t.kind = Token::Text;
        end = text.find('\'', at + 1);
        if (end == StringRef::npos)
          return fail(at, "expected a closing ' for the text that begins here"), false;
        ++end;
      } else if (llvm::isAlpha(c) || c == '_') {
        t.kind = Token::Word;
        while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
          ++end;
      } else {
        t.kind = Token::Op;
        StringRef two = text.substr(at, 2);
        bool isTwo =
            llvm::StringSwitch<bool>(two).Cases({"??", "**", "//", "==", "!=", "<=", ">="}, true).Default(false);
        if (!isTwo && !StringRef("+-*/%<>()[],.?:").contains(c))
          return fail(at, "expected an expression, found " + quote(text.substr(at, 1)) +
                              (c == '='   ? "; equality is '=='"
                               : c == '&' ? "; say 'and'"
                               : c == '|' ? "; say 'or'"
                               : c == '!' ? "; say 'not'"
                                          : "")),
                 false;
        end = at + (isTwo ? 2 : 1);
      }
      t.text = text.slice(at, end);
      tokens.push_back(t);
      at = end;
      if (tokens.size() > maxTokens)
        return fail(at, "an expression has at most " + Twine(maxTokens) + " words"), false;
    }
    tokens.push_back({Token::End, "", text.size()});
    return true;
  }

  const Token &peek() const { return tokens[pos]; }
  Token take() { return tokens[pos + 1 < tokens.size() ? pos++ : pos]; }
  bool is(Token::Kind kind) const { return peek().kind == kind; }
  bool isOp(StringRef op) const { return is(Token::Op) && peek().text == op; }
  bool isWord(StringRef word) const { return is(Token::Word) && peek().text == word; }
  std::string found() const { return is(Token::End) ? "the end of the expression" : quote(peek().text); }

  //===--- nodes ----------------------------------------------------------------===//
  std::nullptr_t fail(size_t at, const Twine &what) {
    if (!failed)
      owner.sink.error(Error::BadExpression, place(at), context ? context->path() : "", what);
    failed = true;
    return nullptr;
  }
  /// Makes a node, owned by Expressions; null if one of its parts is.
  const Expr *make(Expr::Kind kind, size_t at, llvm::ArrayRef<const Expr *> args = {}, StringRef word = "") {
    for (const Expr *a : args)
      if (!a)
        return nullptr;
    Expr e;
    e.kind = kind;
    e.loc = place(at);
    e.text = word.str();
    e.args.assign(args.begin(), args.end());
    for (const Expr *a : args)
      e.depth = std::max(e.depth, a->depth + 1);
    if (e.depth > maxDepth)
      return fail(at, "an expression is nested at most " + Twine(maxDepth) + " deep");
    owner.nodes.push_back(std::move(e));
    return &owner.nodes.back();
  }
  bool expect(StringRef op) {
    if (isOp(op))
      return take(), true;
    fail(peek().at, "expected '" + op + "', found " + found());
    return false;
  }

  /// Recursion of the parser itself is bounded here: every nesting passes through expr,
  /// unary or negation.
  struct Deeper {
    explicit Deeper(ExprParser &p) : p(p) { ++p.nesting; }
    ~Deeper() { --p.nesting; }
    ExprParser &p;
  };
  bool tooDeep() {
    if (nesting <= maxDepth)
      return false;
    fail(peek().at, "an expression is nested at most " + Twine(maxDepth) + " deep");
    return true;
  }

  //===--- the grammar ----------------------------------------------------------===//
  /// coalesce [ '?' expr ':' expr ]
  const Expr *expr() {
    Deeper d(*this);
    if (tooDeep())
      return nullptr;
    const Expr *c = coalesce();
    if (!c || !isOp("?"))
      return c;
    size_t at = take().at;
    const Expr *a = expr();
    if (!a || !expect(":"))
      return nullptr;
    return make(Expr::Kind::Conditional, at, {c, a, expr()});
  }

  /// left [ '??' coalesce ]
  const Expr *coalesce() {
    Deeper d(*this);
    if (tooDeep())
      return nullptr;
    const Expr *a = left(0);
    if (!a || !isOp("??"))
      return a;
    size_t at = take().at;
    return make(Expr::Kind::Coalesce, at, {a, coalesce()});
  }

  /// Whether a token is an operator of a level of `left`.
  static bool isOperator(unsigned level, const Token &t) {
    if (t.kind == Token::Word)
      return (level == 0 && t.text == "or") || (level == 1 && t.text == "and") || (level == 3 && t.text == "in");
    if (t.kind != Token::Op)
      return false;
    switch (level) {
    case 3: return llvm::StringSwitch<bool>(t.text).Cases({"==", "!=", "<", "<=", ">", ">="}, true).Default(false);
    case 4: return t.text == "+" || t.text == "-";
    case 5: return t.text == "*" || t.text == "/" || t.text == "//" || t.text == "%";
    }
    return false;
  }

  /// Operators that group from the left, by precedence: or, and, not (a prefix), comparison, sum, product are levels 0
  /// to 5.
  const Expr *left(unsigned level) {
    if (level == 6)
      return unary();
    if (level == 2) {
      if (!isWord("not"))
        return left(3);
      Deeper d(*this);
      if (tooDeep())
        return nullptr;
      size_t at = take().at;
      return make(Expr::Kind::Not, at, {left(2)});
    }
    const Expr *a = left(level + 1);
    while (a && isOperator(level, peek())) {
      Token op = take();
      a = make(Expr::Kind::Binary, op.at, {a, left(level + 1)}, op.text);
    }
    return a;
  }

  /// '-' unary, or postfix [ '**' unary ]: a power binds tighter than the sign before it and groups from the right.
  const Expr *unary() {
    Deeper d(*this);
    if (tooDeep())
      return nullptr;
    if (isOp("-")) {
      size_t at = take().at;
      return make(Expr::Kind::Negate, at, {unary()});
    }
    const Expr *a = postfix();
    if (!a || !isOp("**"))
      return a;
    size_t at = take().at;
    return make(Expr::Kind::Binary, at, {a, unary()}, "**");
  }

  /// An atom with members (.name), calls (only of a name) and subscripts after it.
  const Expr *postfix() {
    const Expr *a = atom();
    while (a && (isOp(".") || isOp("[") || isOp("("))) {
      Token op = take();
      if (op.text == ".") {
        if (!is(Token::Word) && !is(Token::Number))
          return fail(peek().at, "expected the name of a member, found " + found());
        Token name = take();
        a = make(Expr::Kind::Member, name.at, {a}, name.text);
      } else if (op.text == "(") {
        if (a->kind != Expr::Kind::Name)
          return fail(op.at, "only a function can be called, and only by its name");
        size_t at = tokens[pos - 2].at;
        llvm::SmallVector<const Expr *, 4> args;
        if (!items(args, ")"))
          return nullptr;
        a = make(Expr::Kind::Call, at, args, a->text);
      } else {
        a = index(a, op.at);
      }
    }
    return a;
  }

  /// Expressions between commas up to `close`, which is taken; a comma may be before it.
  bool items(llvm::SmallVectorImpl<const Expr *> &out, StringRef close) {
    while (!isOp(close)) {
      const Expr *e = expr();
      if (!e)
        return false;
      out.push_back(e);
      if (!isOp(close) && !isOp(",")) {
        fail(peek().at, "expected ',' or '" + close + "', found " + found());
        return false;
      }
      if (isOp(","))
        take();
    }
    take();
    return true;
  }

  /// Subscripts up to ']': each an expression or a slice a:b with either end open.
  const Expr *index(const Expr *base, size_t at) {
    llvm::SmallVector<Expr::Subscript, 2> subs;
    if (isOp("]"))
      return fail(peek().at, "expected a subscript, found ']'");
    while (!isOp("]")) {
      Expr::Subscript s;
      if (!isOp(":") && !(s.first = expr()))
        return nullptr;
      if (isOp(":")) {
        take();
        s.slice = true;
        if (!isOp(":") && !isOp(",") && !isOp("]") && !(s.last = expr()))
          return nullptr;
      }
      if (isOp(":"))
        return fail(peek().at, "a slice has no step");
      subs.push_back(s);
      if (isOp(","))
        take();
      else if (!isOp("]"))
        return fail(peek().at, "expected ',' or ']', found " + found());
    }
    take();
    const Expr *made = make(Expr::Kind::Index, at, {base});
    if (!made)
      return nullptr;
    Expr &e = owner.nodes.back();
    e.subscripts = std::move(subs);
    for (auto &s : e.subscripts)
      for (const Expr *bound : {s.first, s.last})
        if (bound)
          e.depth = std::max(e.depth, bound->depth + 1);
    return made;
  }

  /// A number, a text, a word, (expr) or [list].
  const Expr *atom() {
    const Token t = peek();
    switch (t.kind) {
    case Token::Number: return number(take());
    case Token::Text: take(); return make(Expr::Kind::String, t.at, {}, t.text.drop_front().drop_back());
    case Token::Word: return word();
    case Token::Op:
      if (isOp("(")) {
        take();
        const Expr *e = expr();
        return e && expect(")") ? e : nullptr;
      }
      if (isOp("[")) {
        take();
        llvm::SmallVector<const Expr *, 4> args;
        return items(args, "]") ? make(Expr::Kind::List, t.at, args) : nullptr;
      }
      break;
    case Token::End: break;
    }
    return fail(t.at, "expected a value, found " + found());
  }

  const Expr *word() {
    Token t = peek();
    if (t.text == "and" || t.text == "or" || t.text == "in" || t.text == "not")
      return fail(t.at, "expected a value, found " + found());
    take();
    if (t.text == "null")
      return make(Expr::Kind::Null, t.at);
    if (t.text == "true" || t.text == "false") {
      const Expr *e = make(Expr::Kind::Bool, t.at);
      owner.nodes.back().integer = t.text == "true";
      return e;
    }
    return make(Expr::Kind::Name, t.at, {}, t.text);
  }

  const Expr *number(Token t) {
    bool isReal = t.text.find_first_of(".eE") != StringRef::npos;
    const Expr *e = make(isReal ? Expr::Kind::Real : Expr::Kind::Integer, t.at);
    Expr &made = owner.nodes.back();
    if (isReal) {
      if (t.text.getAsDouble(made.real))
        return fail(t.at, "the number " + quote(t.text) + " is out of range");
    } else if (t.text.getAsInteger(10, made.integer)) {
      return fail(t.at, "the integer " + quote(t.text) + " does not fit 64 bits");
    }
    return e;
  }

  Expressions &owner;
  StringRef text;
  llvm::function_ref<Loc(size_t)> place;
  const JsonValue *context;
  std::vector<Token> tokens;
  size_t pos = 0;
  unsigned nesting = 0;
  bool failed = false;
};
} // namespace heddle

const Expr *Expressions::parse(StringRef text, llvm::function_ref<Loc(size_t)> place, const JsonValue *context) {
  const Expr *e = ExprParser(*this, text, place, context).run();
  if (!e)
    refused.push_back(text.str());
  return e;
}

const Expr *Expressions::ofValue(const JsonValue &value) {
  return ofPart(value.string, value.loc, 1, value.string.size(), &value);
}

const Expr *Expressions::ofPart(const std::string &whole, Loc start, size_t begin, size_t end,
                                const JsonValue *context) {
  auto [it, isNew] = known.try_emplace({&whole, begin}, nullptr);
  if (!isNew)
    return it->second;
  const Expr *e =
      parse(StringRef(whole).slice(begin, end), [&](size_t at) { return insideString(start, begin + at); }, context);
  known[{&whole, begin}] = e;
  return e;
}

const Expr *Expressions::ofText(StringRef text, Loc at, const JsonValue *context) {
  return parse(text, [&](size_t) { return at; }, context);
}

llvm::SmallVector<std::pair<size_t, size_t>, 2> heddle::bracesIn(StringRef text) {
  llvm::SmallVector<std::pair<size_t, size_t>, 2> out;
  size_t at = 0;
  while ((at = text.find('{', at)) != StringRef::npos) {
    size_t end = text.find('}', at);
    if (end == StringRef::npos)
      break;
    out.push_back({at + 1, end});
    at = end + 1;
  }
  return out;
}

/// Names of functions are in Expr::text of a call and are not found; a.b.c is found once, as a whole.
void heddle::namesIn(const Expr *e, llvm::function_ref<void(StringRef, Loc)> found) {
  if (!e)
    return;
  if (e->kind == Expr::Kind::Name)
    return found(e->text, e->loc);
  if (e->kind == Expr::Kind::Member) {
    std::string chain = e->text;
    const Expr *base = e->args[0];
    for (; base->kind == Expr::Kind::Member; base = base->args[0])
      chain = base->text + "." + chain;
    if (base->kind == Expr::Kind::Name)
      return found(base->text + "." + chain, base->loc);
    return namesIn(base, found);
  }
  for (const Expr *a : e->args)
    namesIn(a, found);
  for (auto &s : e->subscripts) {
    namesIn(s.first, found);
    namesIn(s.last, found);
  }
}

void heddle::stringsIn(const Expr *e, llvm::function_ref<void(StringRef)> found) {
  if (!e)
    return;
  if (e->kind == Expr::Kind::String)
    found(e->text);
  for (const Expr *a : e->args)
    stringsIn(a, found);
  for (auto &s : e->subscripts) {
    stringsIn(s.first, found);
    stringsIn(s.last, found);
  }
}
