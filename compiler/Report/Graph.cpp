//===- Graph.cpp - the model as its description has it --------------------===//

#include "compiler/Report/Graph.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;
using model::ModelTensorType;

//===-- statements --------------------------------------------------------------===//

namespace {
/// A path of the description, "$.body[5].body[3].a > look > attend", in its parts.
struct StatementPath {
  SmallVector<StringRef> steps;  ///< ".body[5]", ".body[3]"
  StringRef statement;           ///< "$.body[5].body[3]"
  StringRef rest;                ///< ".a"
  SmallVector<StringRef> blocks; ///< "look", "attend"
};
} // namespace

/// The step ".body[5]" that `path` begins with; empty: it begins with none.
static StringRef stepOf(StringRef path) {
  for (StringRef word : {".body[", ".else[", ".then["})
    if (path.starts_with(word)) {
      StringRef number = path.drop_front(word.size()).take_while(llvm::isDigit);
      if (!number.empty() && path.drop_front(word.size() + number.size()).starts_with("]"))
        return path.take_front(word.size() + number.size() + 1);
    }
  return "";
}

static StatementPath partsOf(StringRef path) {
  StatementPath parts;
  path.split(parts.blocks, " > ");
  StringRef head = parts.blocks.front(), left = head;
  parts.blocks.erase(parts.blocks.begin());
  left.consume_front("$");
  while (true) {
    StringRef step = stepOf(left);
    if (step.empty())
      break;
    parts.steps.push_back(step);
    left = left.drop_front(step.size());
  }
  parts.statement = head.drop_back(left.size());
  parts.rest = left;
  return parts;
}

/// A value of JSON without the quotes of a string.
static std::string wordsOf(const JsonValue &value) { return value.isString() ? value.string : value.text(); }

/// What a statement assigns: its first member that is no word of the language.
static const JsonMember *assigned(const JsonValue &statement) {
  static constexpr StringLiteral own[] = {"about", "if", "else", "body", "repeat", "index", "weights", "defaults"};
  for (const JsonMember &member : statement.members)
    if (!llvm::is_contained(own, member.key))
      return &member;
  return nullptr;
}

/// Kind, label and words of a statement, from its JSON.
static void describeStatement(const JsonValue &statement, Node &node) {
  const JsonMember *mine = assigned(statement);
  if (const JsonValue *count = statement.find("repeat")) {
    node.kind = "repeat";
    node.label = node.what = wordsOf(*count);
  } else if (const JsonValue *condition = statement.find("if"); condition && !mine) {
    node.kind = node.label = "if";
    node.what = StringRef(wordsOf(*condition)).ltrim('=').str();
  } else if (mine) {
    node.label = mine->key;
    node.what = wordsOf(mine->value);
    if (mine->value.isObject()) {
      node.what = mine->value.members.empty() ? "" : mine->value.members.front().key;
      const JsonValue *weights = mine->value.find("weights");
      if (std::string more = weights ? wordsOf(*weights) : ""; !more.empty() && more[0] != '=')
        node.what += " · " + more;
    }
  }
}

//===-- the walk ------------------------------------------------------------------===//

namespace {
class GraphBuilder {
public:
  GraphBuilder(func::FuncOp run, Places &places, Sources &sources) : run(run), places(places), sources(sources) {}
  Graph build();

private:
  func::FuncOp run;
  Places &places;
  Sources &sources;
  Graph graph;
  std::map<std::string, size_t> byKey;
  llvm::DenseMap<Value, size_t> makers;

  std::pair<size_t, bool> node(const std::string &key, Node made);
  std::optional<size_t> statement(const StatementPath &path, const std::string &file);
  size_t holderOf(Operation *op, const Place &place);
  void visit(Block &block, std::optional<size_t> around);
  void visit(Operation *op);
  void visitRepeat(model::RepeatOp op);
  void takes(Operation *op, size_t by);
};
} // namespace

/// A node that is no op.
static Node plainNode(std::optional<size_t> parent, StringRef kind, StringRef label, StringRef path) {
  Node node;
  node.parent = parent;
  node.kind = kind.str();
  node.label = label.str();
  node.path = path.str();
  return node;
}

/// The node of this key, and whether it is new.
std::pair<size_t, bool> GraphBuilder::node(const std::string &key, Node made) {
  auto [it, isNew] = byKey.try_emplace(key, graph.nodes.size());
  if (isNew)
    graph.nodes.push_back(std::move(made));
  return {it->second, isNew};
}

/// The node of a statement, made with those around it.
std::optional<size_t> GraphBuilder::statement(const StatementPath &path, const std::string &file) {
  const Source *source = sources.find(places.original(file));
  std::string at = "$";
  std::optional<size_t> parent;
  for (StringRef step : path.steps) {
    at += step;
    auto [id, isNew] = node(at, plainNode(parent, "statement", "", at));
    if (isNew && source && source->json)
      if (const JsonValue *value = Sources::valueAt(*source->json, at); value && value->isObject()) {
        describeStatement(*value, graph.nodes[id]);
        graph.nodes[id].source = Sources::spanOf(file, *source, *value);
      }
    if (isNew && parent && step.starts_with(".else"))
      if (std::string &words = graph.nodes[*parent].what; !StringRef(words).starts_with("else of "))
        words = "else of " + words;
    parent = id;
  }
  return parent;
}

/// What an op is in: its statement, or a block that the statement calls.
size_t GraphBuilder::holderOf(Operation *op, const Place &place) {
  if (StringRef(place.path).starts_with("$.inputs"))
    return byKey.at("inputs");
  StatementPath path = partsOf(place.path);
  std::optional<size_t> holder = statement(path, place.file);
  if (!holder)
    return node("rest", plainNode(std::nullopt, "statement", "made by the compiler", "")).first;
  std::string key = (path.statement + path.rest).str();
  for (StringRef block : path.blocks) {
    key += (" > " + block).str();
    holder = node(key, plainNode(holder, "block", block, key)).first;
  }
  return *holder;
}

/// Notes that the node `by` takes the operands of `op`.
void GraphBuilder::takes(Operation *op, size_t by) {
  for (Value operand : op->getOperands())
    if (auto maker = makers.find(operand); maker != makers.end() && maker->second != by)
      graph.edges.insert({maker->second, by});
}

void GraphBuilder::visitRepeat(model::RepeatOp op) {
  int32_t loc = places.loc(op.getLoc());
  const Place place = places.at(loc);
  std::optional<size_t> id = statement(partsOf(place.path), place.file);
  if (!id)
    id = node("repeat" + std::to_string(graph.nodes.size()), plainNode(std::nullopt, "repeat", "repeat", place.path))
             .first;
  Node &mine = graph.nodes[*id];
  mine.kind = "repeat";
  mine.count = op.getCount();
  mine.loc = loc;
  mine.op = op->getName().getStringRef().str();
  takes(op, *id);
  for (Value result : op->getResults())
    makers[result] = *id;
  for (Value argument : op.getBody().front().getArguments())
    makers[argument] = *id;
  visit(op.getBody().front(), id);
}

/// What an op does, in a word.
static std::string wordOf(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<model::UnaryOp>([](auto op) { return model::stringifyUnaryKind(op.getKind()); })
      .Case<model::BinaryOp>([](auto op) { return model::stringifyBinaryKind(op.getKind()); })
      .Case<model::ReduceOp>([](auto op) { return model::stringifyReduceKind(op.getKind()); })
      .Case<model::CompareOp>([](auto op) { return model::stringifyComparePredicate(op.getPredicate()); })
      .Default([](Operation *op) { return op->getName().stripDialect(); })
      .str();
}

void GraphBuilder::visit(Operation *op) {
  if (isa<model::ParamOp>(op) || op->hasTrait<OpTrait::ConstantLike>() || isa<model::ConstantOp>(op))
    return;
  if (auto repeat = dyn_cast<model::RepeatOp>(op))
    return visitRepeat(repeat);
  Node made;
  made.kind = "op";
  made.loc = places.loc(op->getLoc());
  const Place place = places.at(made.loc);
  made.parent = holderOf(op, place);
  made.path = place.path;
  made.op = op->getName().getStringRef().str();
  const std::string &name = places.locs[made.loc].name;
  made.label = name.empty() ? wordOf(op) : name;
  made.what = name.empty() ? made.op : wordOf(op);
  if (op->getNumResults())
    if (auto type = dyn_cast<ModelTensorType>(op->getResult(0).getType())) {
      for (StringAttr axis : type.getAxes())
        made.shape.push_back(axis.str());
      llvm::raw_string_ostream(made.element) << type.getElementType();
    }
  for (Value operand : op->getOperands())
    if (auto param = operand.getDefiningOp<model::ParamOp>())
      made.params.push_back(param.getName().str());
  size_t id = graph.nodes.size();
  graph.nodes.push_back(std::move(made));
  takes(op, id);
  for (Value result : op->getResults())
    makers[result] = id;
}

void GraphBuilder::visit(Block &block, std::optional<size_t> around) {
  for (Operation &op : block.without_terminator())
    visit(&op);
  if (around)
    takes(block.getTerminator(), *around);
}

Graph GraphBuilder::build() {
  size_t inputs = node("inputs", plainNode(std::nullopt, "inputs", "inputs", "$.inputs")).first;
  for (BlockArgument argument : run.getArguments()) {
    auto name = run.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "model.name");
    Node made;
    made.parent = inputs;
    made.kind = "op";
    made.label = name ? name.str() : "input";
    made.what = made.op = "input";
    made.path = "$.inputs." + made.label;
    made.loc = places.loc(argument.getLoc());
    if (auto type = dyn_cast<ModelTensorType>(argument.getType())) {
      for (StringAttr axis : type.getAxes())
        made.shape.push_back(axis.str());
      llvm::raw_string_ostream(made.element) << type.getElementType();
    }
    makers[argument] = graph.nodes.size();
    graph.nodes.push_back(std::move(made));
  }
  Block &body = run.getBody().front();
  visit(body, std::nullopt);
  takes(body.getTerminator(), node("outputs", plainNode(std::nullopt, "outputs", "outputs", "$.outputs")).first);
  return std::move(graph);
}

Graph report::graphOf(func::FuncOp run, Places &places, Sources &sources) {
  return GraphBuilder(run, places, sources).build();
}

//===-- from an op of a later stage ---------------------------------------------------===//

std::optional<size_t> Graph::find(const Places &places, int32_t loc, StringRef ops, StringRef weight) const {
  if (loc < 0)
    return std::nullopt;
  SmallVector<StringRef> kinds;
  ops.split(kinds, '+');
  for (StringRef &kind : kinds)
    kind = kind.split('*').first;
  int32_t place = places.placeOf(loc);
  const std::string &path = places.at(loc).path;
  std::optional<size_t> best;
  int rank = 0;
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (node.loc < 0 || (node.kind != "op" && node.kind != "repeat"))
      continue;
    bool here = places.placeOf(node.loc) == place,
         kind = llvm::is_contained(kinds, StringRef(node.op).split('.').second);
    bool near = !path.empty() && !node.path.empty() &&
                (StringRef(path).starts_with(node.path) || StringRef(node.path).starts_with(path));
    int mine = here && !weight.empty() && llvm::is_contained(node.params, weight) ? 7
               : here && kind && node.loc == loc                                  ? 6
               : here && kind                                                     ? 5
               : node.loc == loc                                                  ? 4
               : here                                                             ? 3
               : !path.empty() && node.path == path                               ? 2
               : near                                                             ? 1
                                                                                  : 0;
    if (mine > rank) {
      rank = mine;
      best = i;
    }
  }
  return best;
}
