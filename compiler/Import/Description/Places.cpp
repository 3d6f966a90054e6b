// Chooses the token that a message points at when blocks are expanded, and makes the locations of ops.
#include "compiler/Import/Description/Places.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/Statements.h"

#include "compiler/Import/Description/Description.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <set>

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// The user's own file before a family's, a family's before the library's.
static int rankOf(Loc loc) {
  if (!loc.file)
    return 3;
  return !loc.file->isLibrary ? 0 : loc.file->name() == "stdlib.json" ? 2 : 1;
}

/// The innermost place of the best rank among `at` and the calls of blocks around it.
At Places::shown(At at) const {
  At best = at;
  for (const Frame &f : llvm::reverse(frames))
    if (rankOf(f.call.loc) < rankOf(best.loc))
      best = f.call;
  return best;
}

Loc Places::of(mlir::Location where) const {
  auto at = where->findInstanceOf<mlir::FileLineColLoc>();
  const SourceFile *file = at ? sink.file(at.getFilename()) : nullptr;
  return file ? Loc{file, file->offset(at.getLine(), at.getColumn())} : Loc();
}

At Places::of(const JsonValue &v) {
  const Expr *e = v.isExpression() ? expressions.ofValue(v) : nullptr;
  return {e ? e->loc : v.loc, &v};
}

std::string Places::pathOf(At at) const {
  std::string out;
  for (const Frame &f : frames)
    out += (out.empty() ? (f.call.json ? f.call.json->path() : "$") : "") + " > " + f.block;
  if (out.empty())
    return at.json ? at.json->path() : "";
  return out;
}

/// Adds notes about values from config.json that are part of the message, with their places.
static void configNotes(Diagnostic &d, const JsonValue *json, const Description &doc, const JsonValue &config,
                        Expressions &expressions) {
  if (!json || !doc.config || !doc.family || config.members.empty())
    return;
  std::set<std::string> shown;
  unsigned depth = 0;
  std::function<void(const Expr *)> fromExpression;
  auto fromName = [&](StringRef name) {
    if (shown.size() > 6 || depth > 4 || !shown.insert(name.str()).second)
      return;
    if (const JsonMember *constant = doc.config->findMember(name); constant && constant->value.isExpression()) {
      ++depth;
      fromExpression(expressions.ofValue(constant->value));
      --depth;
    }
    if (const JsonMember *m = config.findMember(name.split('.').first))
      d.note(m->value.loc, quote(m->key) + " is " + m->value.text().substr(0, 60) + " here");
  };
  fromExpression = [&](const Expr *e) { namesIn(e, [&](StringRef n, Loc) { fromName(n); }); };
  std::function<void(const JsonValue &)> walk = [&](const JsonValue &v) {
    if (v.isExpression())
      fromExpression(expressions.ofValue(v));
    for (const JsonValue &x : v.items)
      walk(x);
    for (const JsonMember &m : v.members)
      if (!m.value.isArray() || m.value.items.size() < 10)
        walk(m.value);
  };
  walk(*json);
}

/// The error is at the user's token; notes say where in the block, through which calls, and which values of
/// config.json the expression used.
Diagnostic &Places::error(Error code, At at, const Twine &message) {
  At where = shown(at);
  Diagnostic &d = sink.error(code, where.loc, pathOf(at), message);
  if (!(where.loc == at.loc) && at.loc)
    d.note(at.loc, "in the block " + quote(block()));
  for (const Frame &f : llvm::reverse(frames))
    if (!(f.call.loc == where.loc) && f.call.loc && rankOf(f.call.loc) < 2)
      d.note(f.call.loc, "called from here");
  if (doc && config)
    configNotes(d, at.json, *doc, *config, expressions);
  return d;
}

/// The place of `at` in its file: no call of a block is looked at.
mlir::Location Places::inFile(At at) {
  if (!at.loc)
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, doc ? doc->source->name() : "import"));
  const SourceFile &file = *at.loc.file;
  if (file.madeFrom)
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, file.name()));
  auto [line, column] = file.lineAndColumn(at.loc.offset);
  return mlir::FileLineColLoc::get(&context, file.name(), line, column);
}

/// The outermost `depth` calls of blocks that the import is inside of, as one location; the innermost is the callee.
mlir::Location Places::calls(size_t depth) {
  Frame &frame = frames[depth - 1];
  if (!frame.calls) {
    mlir::Location call = inFile(frame.call);
    frame.calls = depth > 1 ? mlir::CallSiteLoc::get(call, calls(depth - 1)) : call;
  }
  return *frame.calls;
}

mlir::Location Places::location(At at) {
  At where = shown(at);
  mlir::Location place = inFile(where);
  if (!mlir::isa<mlir::FileLineColLoc>(place))
    return place;
  std::string path = pathOf(at);
  if (frames.empty() || !at.loc)
    return model::withPath(path, place);
  return model::withCalls(path, place, inFile(at), calls(frames.size()));
}
