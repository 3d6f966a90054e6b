// Writes the attributes of the module that later stages read: model.name, model.dims (bounds of dims), model.weights
// (files), model.adapters (what is merged into them), model.quantised (how their matrices are coded),
// model.generate (roles of inputs and outputs) and model.padding_unread.
#include "compiler/Import/Description/DeclaredNames.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Weights/ModelWeights.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// The roles of `generate`, role → name of the input or output, and token ids: eos may be several. Null where the model
/// does not generate: no such section, its `if` is false, or its logits are no output under these constants.
static mlir::DictionaryAttr rolesOf(Session &session, const Description &doc, const std::vector<std::string> &inputs,
                                    const std::vector<std::string> &outputs) {
  Emitter &in = session.in;
  Evaluator &evaluator = session.evaluator;
  const JsonValue *g = doc.generate;
  const JsonValue *logits = g ? g->find("logits") : nullptr;
  if (!logits || !llvm::is_contained(outputs, logits->string))
    return {};
  if (const JsonValue *condition = g->find("if"))
    if (Value v = evaluator.value(*condition, evaluator.fileScope); v.is(K::Bool) && !v.asBool())
      return {};
  llvm::SmallVector<mlir::NamedAttribute> roles;
  for (StringRef role : {"tokens", "logits", "mask", "positions", "source"})
    if (const JsonValue *v = g->find(role)) {
      // Which input it is may depend on the head; null: none.
      Value name = evaluator.value(*v, evaluator.fileScope);
      if (name.isNull() || name.isBad())
        continue;
      bool known = name.is(K::String) && llvm::is_contained(role == "logits" ? outputs : inputs, name.asString());
      if (known)
        roles.push_back(in.textAttr(role, name.asString()));
      else if (v->isExpression())
        in.error(Error::WrongValue, {v->loc, v},
                 "the name of an input or output expected, found " + Twine(name.show()));
    }
  auto constant = [&](const JsonValue &v, bool several) -> mlir::Attribute {
    Value c = evaluator.value(v, evaluator.fileScope);
    if (c.isNull() || c.isBad())
      return {};
    if (c.is(K::List)) {
      llvm::SmallVector<mlir::Attribute> ids;
      for (const Value &id : c.asList())
        if (id.is(K::Integer))
          ids.push_back(in.builder.getI64IntegerAttr(id.asInteger()));
      if (ids.size() == c.asList().size() && !ids.empty())
        return several && ids.size() > 1 ? mlir::Attribute(in.builder.getArrayAttr(ids)) : ids.front();
    }
    if (c.is(K::Integer))
      return in.builder.getI64IntegerAttr(c.asInteger());
    in.error(Error::WrongValue, {v.loc, &v}, "a token id expected, found " + Twine(c.show()));
    return {};
  };
  for (StringRef role : {"start", "eos", "pad"})
    if (const JsonValue *v = g->find(role))
      if (mlir::Attribute a = constant(*v, role == "eos"))
        roles.push_back(in.attr(role, a));
  if (const JsonValue *context = g->find("context")) {
    Value c = evaluator.value(*context, evaluator.fileScope);
    if (c.is(K::Integer) && c.asInteger() > 0)
      roles.push_back(in.intAttr("context", c.asInteger()));
    else if (!c.isNull() && !c.isBad() && !(c.is(K::Integer) && c.asInteger() == 0))
      in.error(Error::WrongValue, {context->loc, context}, "a number of positions expected, found " + Twine(c.show()));
  }
  if (const JsonValue *extend = g->find("extend")) {
    llvm::SmallVector<mlir::NamedAttribute> extended;
    for (const JsonMember &m : extend->members)
      if (llvm::is_contained(inputs, m.key))
        if (mlir::Attribute a = constant(m.value, false))
          extended.push_back(in.attr(m.key, a));
    roles.push_back(in.attr("extend", in.builder.getDictionaryAttr(extended)));
  }
  return in.builder.getDictionaryAttr(roles);
}

/// The name is the description's, else the model type, else the file's. The bound of a dim is the smaller of the
/// description's and --bound.
void heddle::writeModuleAttributes(Session &session, const Source &source, const ModelWeights &weights,
                                   mlir::ModuleOp module, const std::vector<std::string> &inputs,
                                   const std::vector<std::string> &outputs) {
  const ImportOptions &options = session.options;
  const Description &doc = *source.doc;
  Emitter &in = session.in;
  Evaluator &evaluator = session.evaluator;
  std::string name = doc.name;
  if (name.empty() && source.config && source.config->json.find("model_type"))
    name = asName(source.config->json.find("model_type")->string);
  if (name.empty())
    name = asName(llvm::sys::path::stem(options.path.empty() || options.text ? "model" : options.path));
  module->setAttr("model.name", in.builder.getStringAttr(name));

  if (source.config) // its users read outputs by the mask that they gave
    module->setAttr("model.padding_unread", in.builder.getUnitAttr());

  std::map<std::string, int64_t> bounds;
  if (doc.dims)
    for (const JsonMember &m : doc.dims->members) {
      Value v = evaluator.value(m.value, evaluator.fileScope);
      if (v.is(K::Integer) && v.asInteger() >= 0)
        bounds[m.key] = v.asInteger();
      else if (!v.isNull() && !v.isBad())
        in.error(Error::WrongValue, {m.value.loc, &m.value}, "an upper bound expected, found " + Twine(v.show()));
    }
  for (auto &[dim, bound] : options.bounds) {
    if (!evaluator.dims.count(dim)) {
      std::vector<std::string> known;
      for (auto &d : evaluator.dims)
        known.push_back(d.first);
      session.sink.errorInFile(Error::NothingNamed, "--bound", "", "no dim " + quote(dim) + nearest(dim, known));
      continue;
    }
    auto it = bounds.try_emplace(dim, bound).first;
    it->second = std::min(it->second, bound);
  }
  llvm::SmallVector<mlir::NamedAttribute> dimAttrs;
  for (auto &[dim, bound] : bounds)
    if (evaluator.dims.count(dim))
      dimAttrs.push_back(in.intAttr(dim, bound));
  module->setAttr("model.dims", in.builder.getDictionaryAttr(dimAttrs));

  llvm::SmallVector<mlir::Attribute> files;
  for (const std::string &f : weights.files())
    files.push_back(in.builder.getStringAttr(f));
  module->setAttr("model.weights", in.builder.getArrayAttr(files));
  if (!options.adapters.empty()) {
    llvm::SmallVector<mlir::Attribute> adapters;
    for (const AdapterChoice &adapter : options.adapters)
      adapters.push_back(in.builder.getStringAttr(adapter.text()));
    module->setAttr("model.adapters", in.builder.getArrayAttr(adapters));
  }
  if (std::string quantised = weights.quantised(); !quantised.empty())
    module->setAttr("model.quantised", in.builder.getStringAttr(quantised));

  if (mlir::DictionaryAttr roles = rolesOf(session, doc, inputs, outputs))
    module->setAttr("model.generate", roles);
}
