//===- ParserImpl.h - The parser's state ------------------------*- C++ -*-===//
//
// The classes behind parse(): statements in Parser.cpp, expressions in
// Expressions.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_PARSERIMPL_H
#define HEDDLE_COMPILER_TEMPLATE_PARSERIMPL_H

#include "compiler/Template/Parser.h"

namespace heddle::tpl {

/// The tokens, where the parser is in them, and what it has to say.
class TokenCursor {
protected:
  TokenCursor(const std::string &source, const std::vector<Token> &tokens, Parsed &out)
      : source(source), tokens(tokens), out(out) {}

  /// One more level of brackets, tags, `not` or signs.
  struct Nested {
    explicit Nested(TokenCursor &parser) : parser(parser), ok(++parser.depth <= kMostNesting || parser.tooDeep()) {}
    ~Nested() { --parser.depth; }
    TokenCursor &parser;
    bool ok;
  };

  const Token &now() const { return tokens[at]; }
  void next() { at += at + 1 < tokens.size(); }
  bool fail(const Token &token, const std::string &message);
  bool tooDeep() { return fail(now(), "nested deeper than " + std::to_string(kMostNesting) + " levels"); }
  /// Counts a node of the tree.
  bool count(const Token &token);
  void refuse(Place place, const std::string &message);
  static std::string describe(const Token &token);
  bool expect(const char *op);
  bool expectName(std::string &name);
  bool expectTagEnd();

  const std::string &source;
  const std::vector<Token> &tokens;
  Parsed &out;
  size_t at = 0;
  uint32_t depth = 0, nodes = 0;
  bool failed = false;
};

/// Expressions: each function appends its steps.
class ExpressionParser : public TokenCursor {
protected:
  using TokenCursor::TokenCursor;

  bool expression(Expression &e);
  bool tuple(Expression &e, bool inlineIf, bool brackets, const char *end);
  bool filters(Expression &e, bool first);

private:
  bool choose(Expression &e, std::vector<Expression> &conditions, std::vector<Expression> &values,
              const Expression &rest, const Token &token);
  bool orElse(Expression &e);
  bool both(Expression &e);
  bool inverse(Expression &e);
  bool compare(Expression &e);
  bool sum(Expression &e);
  bool concat(Expression &e);
  bool product(Expression &e);
  bool power(Expression &e);
  bool unary(Expression &e, bool withFilters);
  bool primary(Expression &e);
  bool list(Expression &e);
  bool dict(Expression &e);
  bool postfix(Expression &e, size_t begin);
  bool subscript(Expression &e);
  bool subscribed(Expression &e, bool &isSlice);
  bool call(Expression &e, size_t begin);
  bool arguments(Step &step, Expression &e);
  bool filterOrTest(Expression &e, size_t begin);
  bool test(Expression &e);
  using Level = bool (ExpressionParser::*)(Expression &);
  struct Sign {
    const char *text;
    Op op;
  };
  bool chain(Expression &e, Level level, std::initializer_list<Sign> signs);
  bool add(Expression &e, const Token &token, Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  uint32_t number(uint64_t bits);
  uint32_t quote(size_t begin);
};

class Parser : public ExpressionParser {
public:
  Parser(const std::string &source, const std::vector<Token> &tokens, Parsed &out)
      : ExpressionParser(source, tokens, out) {}
  void run() { (void)statements(out.body, {}); }

private:
  struct OpenTag {
    std::string text;
    Place place;
  };

  bool statements(std::vector<Statement> &body, const std::vector<std::string> &ends);
  bool bodyOf(const Token &tag, std::vector<Statement> &body, const std::vector<std::string> &ends);
  bool wholeBody(const Token &tag, std::vector<Statement> &body, const char *end);
  bool statement(std::vector<Statement> &body);
  bool ifTag(const Token &tag, Statement &made);
  bool forTag(const Token &tag, Statement &made);
  bool setTag(const Token &tag, Statement &made);
  bool withTag(const Token &tag, Statement &made);
  bool macroTag(const Token &tag, Statement &made);
  bool callTag(const Token &tag, Statement &made);
  bool refusedTag(const Token &tag, std::vector<Statement> &body);
  bool signature(Statement &made);
  bool targets(Target &target, bool upToIn);
  bool targetItem(Target &target);

  std::vector<OpenTag> openTags;
};

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_PARSERIMPL_H
