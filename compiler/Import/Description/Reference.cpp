// Prints `heddle reference`: language.md, with each table between `<!-- generated: NAME -->` and `<!-- end of NAME -->`
// made anew from what the importer reads. A test compares the result with the page in the tree, so it cannot go out of
// date.
#include "compiler/Import/Description/Reference.h"
#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

/// Text for a cell of a table, in which `|` is escaped.
static std::string cell(StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

//===--- ops ------------------------------------------------------------------===//

/// The ops: operands, shapes, formula, and which axis they mix.
static void printOps(llvm::raw_ostream &os) {
  os << "| op | operands | shapes | formula | mixes | source |\n|---|---|---|---|---|---|\n";
  for (const OpInfo &op : allOps())
    os << "| `" << op.name << "` | " << (op.operands.empty() ? "`[]`" : llvm::join(op.operands, ", ")) << " | "
       << cell(op.shapes) << " | " << cell(op.formula) << " | " << cell(op.mixes) << " | " << op.source << " |\n";
}

/// The attributes of an op with one role, each with its choices or default: a cell of the next table.
static void attributesOf(llvm::raw_ostream &os, const OpInfo &op, AttrRole role) {
  StringRef comma;
  for (const AttrInfo &a : op.attributes) {
    if (a.role != role)
      continue;
    os << comma << '`' << a.name << '`';
    if (!a.choices.empty())
      os << " (`" << llvm::join(a.choices, "`, else `") << "`)";
    else if (!a.fallback.empty())
      os << " (" << cell(a.fallback) << ')';
    comma = ", ";
  }
}

static void printAttributes(llvm::raw_ostream &os) {
  os << "| op | required | optional (default) | assert | weights |\n|---|---|---|---|---|\n";
  for (const OpInfo &op : allOps()) {
    if (op.attributes.empty())
      continue;
    os << "| `" << op.name << '`';
    for (AttrRole role : {AttrRole::Required, AttrRole::Optional, AttrRole::Assert, AttrRole::Weight}) {
      os << " | ";
      attributesOf(os, op, role);
    }
    os << " |\n";
  }
}

//===--- expressions ----------------------------------------------------------===//

static void printFunctions(llvm::raw_ostream &os) {
  os << "| function | arguments | kind | |\n|---|---|---|---|\n";
  for (const FunctionInfo &f : allFunctions())
    if (f.group != "masks")
      os << "| `" << f.name << "` | " << f.least
         << (f.most < 0         ? " or more"
             : f.most > f.least ? " to " + std::to_string(f.most)
                                : "")
         << " | " << f.group << " | " << cell(f.about) << " |\n";
}

static void printActivations(llvm::raw_ostream &os) {
  StringRef space;
  for (StringRef a : activationNames()) {
    os << space << '`' << a << (canonicalActivation(a) == a ? "`" : "` (" + canonicalActivation(a).str() + ")");
    space = " ";
  }
  os << '\n';
}

static void printMasks(llvm::raw_ostream &os) {
  os << "| mask | i sees j when |\n|---|---|\n| `all` | always |\n| `causal` | j ≤ i |\n";
  for (const FunctionInfo &f : allFunctions())
    if (f.group == "masks") {
      auto [call, about] = f.about.split(": ");
      os << "| `" << call << "` | " << cell(about) << " |\n";
    }
}

/// Every name that the language gives a meaning to, kind by kind.
static void printNames(llvm::raw_ostream &os) {
  std::vector<StringRef> ops, functions, masks = {"all", "causal"};
  for (const OpInfo &op : allOps())
    ops.push_back(op.name);
  for (const FunctionInfo &f : allFunctions())
    (f.group == "masks" ? masks : functions).push_back(f.name);
  DiagnosticSink quiet;
  SourceFile file("stdlib.json", standardLibrary().str());
  std::optional<JsonValue> library = parseJson(file, quiet);
  std::vector<StringRef> blocks;
  if (const JsonValue *all = library ? library->find("blocks") : nullptr)
    for (const JsonMember &m : all->members)
      blocks.push_back(m.key);
  os << "- functions: `" << llvm::join(functions, "` `") << "`\n- masks: `" << llvm::join(masks, "` `") << "`\n- ops: `"
     << llvm::join(ops, "` `") << "`\n- blocks: `" << llvm::join(blocks, "` `") << "`\n";
}

//===--- blocks ---------------------------------------------------------------===//

/// The default of a block's attribute; of a choice "post, else pre", "a, else b, c".
static std::string shown(const JsonValue &v) {
  if (v.isObject() && v.find("one_of")) {
    std::string out;
    for (auto [i, choice] : llvm::enumerate(v.find("one_of")->items))
      out += (i == 0 ? "" : i == 1 ? ", else " : ", ") + choice.string;
    return out;
  }
  if (v.isExpression())
    return v.string == "=null" ? "none" : v.string.substr(1);
  return v.isString() ? v.string : v.text();
}

/// A weight's name in a scope, with a dot where both are there.
static std::string under(StringRef scope, StringRef name) {
  return (scope + (scope.empty() || name.empty() ? "" : ".") + name).str();
}

/// The base names of the weights that a body asks for, in order, each once; "" is the block's own.
static void weightsOf(const JsonValue &body, const JsonValue &blocks, const std::string &scope,
                      std::vector<std::string> &out) {
  for (const JsonValue &statement : body.items) {
    const JsonValue *into = statement.find("weights");
    std::string inside = under(scope, into ? into->string : "");
    for (const JsonMember &m : statement.members) {
      if (m.key == "body" || m.key == "else")
        weightsOf(m.value, blocks, inside, out);
      for (const JsonMember &head : m.value.members) {
        const OpInfo *op = findOp(head.key);
        const JsonValue *block = blocks.find(head.key);
        const JsonValue *base = m.value.find("weights"), *own = m.value.find("weight");
        std::string name = under(scope, base ? base->string : own && !own->isExpression() ? own->string : "");
        if (block)
          weightsOf(*block->find("body"), blocks, name, out);
        else if (op && op->readsWeights() && !(own && own->isExpression()) && !llvm::is_contained(out, name))
          out.push_back(name);
      }
    }
  }
}

/// The blocks of stdlib.json; attributes that must be given are bold.
static void printBlockTable(llvm::raw_ostream &os) {
  DiagnosticSink quiet;
  SourceFile file("stdlib.json", standardLibrary().str());
  std::optional<JsonValue> library = parseJson(file, quiet);
  const JsonValue *blocks = library ? library->find("blocks") : nullptr;
  if (!blocks)
    return;
  os << "| block | operands → results | attributes (default) | weights | |\n|---|---|---|---|---|\n";
  for (const JsonMember &m : blocks->members) {
    os << "| `" << m.key << "` | ";
    StringRef comma;
    for (const JsonValue &o : m.value.find("operands")->items) {
      os << comma << o.string;
      comma = ", ";
    }
    os << " → " << m.value.find("result")->string << " | ";
    comma = "";
    if (const JsonValue *given = m.value.find("attributes"))
      for (const JsonMember &a : given->members) {
        if (a.value.isNull())
          os << comma << "**" << a.key << "**";
        else
          os << comma << a.key << " (" << cell(shown(a.value)) << ')';
        comma = ", ";
      }
    std::vector<std::string> weights;
    weightsOf(*m.value.find("body"), *blocks, "", weights);
    os << " | ";
    for (const std::string &w : weights)
      os << (w.empty() ? "its own" : "`" + w + "`") << (&w == &weights.back() ? "" : " ");
    const JsonValue *about = m.value.find("about");
    os << " | " << cell(about ? about->string : "") << " |\n";
  }
}

//===--- the page -------------------------------------------------------------===//

static constexpr struct {
  StringRef name;
  void (*print)(llvm::raw_ostream &);
} parts[] = {{"ops", printOps},          {"attributes", printAttributes}, {"functions", printFunctions},
             {"masks", printMasks},      {"names", printNames},           {"activations", printActivations},
             {"blocks", printBlockTable}};

void heddle::printBlocks(llvm::raw_ostream &os) { os << standardLibrary(); }

void heddle::printReference(llvm::raw_ostream &os) {
  for (StringRef page = languagePage(); !page.empty();) {
    auto [line, rest] = page.split('\n');
    os << line << '\n';
    page = rest;
    StringRef name = line;
    if (!name.consume_front("<!-- generated: ") || !name.consume_back(" -->"))
      continue;
    for (auto &part : parts)
      if (part.name == name)
        part.print(os);
    page = page.substr(page.find("<!-- end of "));
  }
}
