// A name of the file that is also a built-in one shadows it: what the language is given later breaks no file. A remark
// says it, with the place of the name and that of the built-in one on the page of the language.
#include "compiler/Import/Description/Lint.h"

#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// The row of a table of language.md that begins with the name, alone or with its arguments.
static Loc placeOfBuiltIn(StringRef name, DiagnosticSink &sink) {
  const SourceFile *page = sink.file("language.md");
  if (!page) {
    SourceFile &added = sink.addFile("language.md", languagePage().str());
    added.isLibrary = true;
    page = &added;
  }
  for (const char *end : {"`", "("})
    if (size_t at = page->text().find(("\n| `" + name + end).str()); at != StringRef::npos)
      return {page, at + 4};
  return {page, 0};
}

void Lint::checkShadows() {
  std::set<std::string, std::less<>> told;
  auto shadow = [&](StringRef name, Loc loc, const Twine &path, StringRef what, StringRef builtIn) {
    if (told.insert(name.str()).second)
      sink.say(Diagnostic::Kind::Remark, loc, path,
               quote(name) + " is also a built-in " + builtIn + "; here it means the " + what)
          .note(placeOfBuiltIn(name, sink), "the built-in " + quote(name));
  };
  auto word = [&](StringRef name, Loc loc, const Twine &path, StringRef what) {
    if (isNamedMask(name))
      shadow(name, loc, path, what, "mask");
    else if (const FunctionInfo *f = findFunction(name))
      shadow(name, loc, path, what, f->group == "masks" ? "mask" : "function");
  };
  for (auto &[name, b] : doc.blocks)
    if (!b.isLibrary && (findOp(name) || doc.block("/" + name)))
      shadow(name, b.loc, "$.blocks." + b.name, "block of this file", findOp(name) ? "op" : "block");
  if (doc.config)
    for (const JsonMember &m : doc.config->members)
      word(m.key, m.keyLoc, "$.config." + m.key, "constant");
  if (const JsonValue *known = doc.family ? doc.family->find("architectures") : nullptr)
    for (const JsonMember &a : known->members)
      for (const JsonMember &m : a.value.members)
        word(m.key, m.keyLoc, a.value.path() + "." + m.key, "constant");
  for (const InputSpec &in : doc.inputs) {
    if (isNamedMask(in.name)) // a function is called, so what is not called takes nothing from it
      word(in.name, in.loc, "$.inputs." + in.name, "input");
    if (in.type && in.type->isString())
      if (size_t open = in.type->string.find('['); !in.type->isExpression() && open != std::string::npos)
        wordsIn(StringRef(in.type->string).drop_front(open), [&](StringRef axis) {
          if (in.type->string.find((axis + "(").str()) == std::string::npos)
            word(axis, in.type->loc, in.type->path(), "dim");
        });
  }
  forEachStatement(doc.body, [&](const Statement &s) {
    for (const NameSpec &n : s.names)
      if (isNamedMask(n.text))
        word(n.text, n.loc, s.json->path(), "value");
  });
}
