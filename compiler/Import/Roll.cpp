// Rolls repeats: consecutive iterations that are alike (the same ops, attributes and types, parameter names that differ
// by the index only) become one `model.repeat`. Values that an iteration reads from the previous one are carried
// through block arguments; values of single iterations that are read afterwards are collected into a result with a
// leading axis.
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Importer.h"
#include "dialects/Model/IR/Names.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::StringRef;
using mlir::Operation;

/// A marker is a cast without operands and results, which no clean-up takes for an unused value. rollRepeats erases
/// them.
mlir::Operation *heddle::markIteration(Emitter &in, At at) {
  return mlir::UnrealizedConversionCastOp::create(in.builder, in.location(at), mlir::TypeRange(), mlir::ValueRange());
}

namespace {

/// One iteration: its ops, including those inside of regions, and an id for every value that it defines.
struct Iteration {
  llvm::SmallVector<Operation *> top, all;
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::SmallVector<mlir::Value> values; // by id

  explicit Iteration(llvm::ArrayRef<Operation *> ops) : top(ops) {
    auto define = [&](mlir::Value v) {
      ids[v] = values.size();
      values.push_back(v);
    };
    for (Operation *op : top)
      op->walk<mlir::WalkOrder::PreOrder>([&](Operation *o) {
        all.push_back(o);
        for (mlir::Value r : o->getResults())
          define(r);
        for (mlir::Region &region : o->getRegions())
          for (mlir::Block &block : region)
            for (mlir::Value arg : block.getArguments())
              define(arg);
      });
  }
};

/// An operand from outside of the iteration: the same in every iteration, or value `id` of the previous one.
struct Outer {
  bool carried = false;
  unsigned id = 0;
};
using OuterMap = llvm::MapVector<std::pair<unsigned, unsigned>, Outer>; // op, operand

/// Rolls the iterations of one repeat. The fields describe the group of alike iterations found so far, by the indices
/// of ops and values in its first iteration.
class Roller {
public:
  Roller(mlir::OpBuilder &builder, mlir::Location location, StringRef index)
      : b(builder), location(location), index(index) {}

  /// Splits the iterations into groups as long as possible and builds a `model.repeat` of each that has two or more.
  void run(std::vector<Iteration> &turns);

private:
  bool alike(const Iteration &first, const Iteration &previous, const Iteration &turn, int64_t distance);
  using Places = llvm::SmallVector<unsigned, 2>; // which of a name's numbers grow with the index, counted from the left
  bool sameName(StringRef first, StringRef other, int64_t distance, Places &grown);
  static std::string pattern(StringRef name, const Places &places, unsigned hole);
  void build(llvm::MutableArrayRef<Iteration> group);

  mlir::OpBuilder &b;
  mlir::Location location;
  StringRef index; ///< its name
  OuterMap outer;
  std::optional<int64_t> number;             // that is in names of the group's first iteration
  llvm::MapVector<unsigned, Places> indexed; // ops whose parameter name has the number in it
};

/// The numbers in a name, outside of {index}.
llvm::SmallVector<std::pair<size_t, size_t>> numbersIn(StringRef name) {
  llvm::SmallVector<std::pair<size_t, size_t>> out;
  for (size_t i = 0; i < name.size();) {
    if (name[i] == '{') {
      i = std::min(name.find('}', i), name.size());
    } else if (llvm::isDigit(name[i])) {
      size_t end = i;
      while (end < name.size() && llvm::isDigit(name[end]))
        ++end;
      out.push_back({i, end});
      i = end;
    } else {
      ++i;
    }
  }
  return out;
}

} // namespace

/// Whether two names are equal except for numbers that grew by `distance`; all such numbers are equal in the first
/// name.
bool Roller::sameName(StringRef first, StringRef other, int64_t distance, Places &grown) {
  auto x = numbersIn(first), y = numbersIn(other);
  if (x.size() != y.size())
    return false;
  size_t atX = 0, atY = 0;
  for (unsigned place = 0; place < x.size(); ++place) {
    auto p = x[place], q = y[place];
    if (first.slice(atX, p.first) != other.slice(atY, q.first))
      return false;
    StringRef n = first.slice(p.first, p.second), m = other.slice(q.first, q.second);
    atX = p.second;
    atY = q.second;
    if (n == m)
      continue;
    int64_t i, j;
    if (n.getAsInteger(10, i) || m.getAsInteger(10, j) || j - i != distance || std::to_string(i) != n ||
        std::to_string(j) != m || (number && *number != i))
      return false;
    number = i;
    grown.push_back(place);
  }
  return first.drop_front(atX) == other.drop_front(atY);
}

/// Whether `turn`, `distance` iterations after `first`, is the same code. The second iteration decides which operands
/// are carried and which numbers in names grow; those after it must agree. Ops are compared in order, not as a graph:
/// they come from one and the same text.
bool Roller::alike(const Iteration &first, const Iteration &previous, const Iteration &turn, int64_t distance) {
  if (first.all.size() != turn.all.size() || first.values.size() != turn.values.size())
    return false;
  bool isSecond = distance == 1;
  for (unsigned i = 0; i < first.values.size(); ++i)
    if (first.values[i].getType() != turn.values[i].getType())
      return false;
  for (unsigned i = 0; i < first.all.size(); ++i) {
    Operation *p = first.all[i], *q = turn.all[i];
    if (p->getName() != q->getName() || p->getNumOperands() != q->getNumOperands() ||
        p->getNumResults() != q->getNumResults() || p->getNumRegions() != q->getNumRegions())
      return false;
    if (auto a = llvm::dyn_cast<model::ParamOp>(p)) {
      StringRef name = a.getName(), other = llvm::cast<model::ParamOp>(q).getName();
      if (name != other) {
        // In every iteration the same numbers must grow, and no others.
        Places grown;
        if (!sameName(name, other, distance, grown))
          return false;
        if (isSecond)
          indexed[i] = grown;
        else if (indexed.lookup(i) != grown)
          return false;
      } else if (indexed.count(i)) {
        return false;
      }
    } else if (p->getAttrDictionary() != q->getAttrDictionary()) {
      return false;
    }
    for (unsigned k = 0; k < p->getNumOperands(); ++k) {
      mlir::Value x = p->getOperand(k), y = q->getOperand(k);
      auto idX = first.ids.find(x), idY = turn.ids.find(y);
      bool inX = idX != first.ids.end(), inY = idY != turn.ids.end();
      if (inX != inY || (inX && idX->second != idY->second))
        return false;
      if (inX)
        continue;
      auto before = previous.ids.find(y);
      bool comesAlong = before != previous.ids.end();
      if (isSecond) {
        if (x != y && !comesAlong)
          return false;
        outer[{i, k}] = x == y ? Outer{} : Outer{true, before->second};
      } else {
        const Outer &o = outer[{i, k}];
        if (o.carried ? !comesAlong || before->second != o.id : x != y)
          return false;
      }
    }
  }
  return true;
}

/// "h.3.attn" with place 0 as hole 0 is "h.{0}.attn".
std::string Roller::pattern(StringRef name, const Places &places, unsigned hole) {
  std::string out;
  size_t at = 0;
  for (auto [place, range] : llvm::enumerate(numbersIn(name))) {
    auto [begin, end] = range;
    out += name.slice(at, begin);
    out +=
        llvm::is_contained(places, unsigned(place)) ? "{" + std::to_string(hole) + "}" : name.slice(begin, end).str();
    at = end;
  }
  return out + name.drop_front(at).str();
}

/// Makes a `model.repeat` of a group: its body is the first iteration, moved, with carried operands replaced by block
/// arguments and growing numbers by holes. Readers after the group get the results: the last iteration's carried
/// value, or a slice of a collected one. Then the other iterations are erased. A group whose mask or bias is read
/// after it stays as it is, since masks have no axis to collect along.
void Roller::build(llvm::MutableArrayRef<Iteration> group) {
  Iteration &first = group.front(), &last = group.back();
  int64_t count = group.size();

  // Carried values: a value of the iteration, and its initial value.
  llvm::MapVector<std::pair<unsigned, mlir::Value>, unsigned> slots;
  for (auto &[where, o] : outer)
    if (o.carried)
      slots.try_emplace({o.id, first.all[where.first]->getOperand(where.second)}, static_cast<unsigned>(slots.size()));
  llvm::DenseMap<unsigned, unsigned> slotOf; // any slot of a value
  for (auto &[key, slot] : slots)
    slotOf.try_emplace(key.first, slot);

  // Values that are read after the group.
  llvm::DenseSet<Operation *> members;
  for (Iteration &turn : group)
    members.insert(turn.all.begin(), turn.all.end());
  auto isOutside = [&](mlir::OpOperand &use) { return !members.contains(use.getOwner()); };
  llvm::SetVector<unsigned> collected;
  for (Iteration &turn : group)
    for (unsigned id = 0; id < turn.values.size(); ++id)
      if (llvm::any_of(turn.values[id].getUses(), isOutside))
        if (&turn != &last || !slotOf.count(id))
          collected.insert(id);
  for (unsigned id : collected)
    if (!llvm::isa<ModelTensorType>(first.values[id].getType()))
      return; // a mask or a bias cannot be kept for every iteration

  llvm::SmallVector<mlir::Value> inits;
  llvm::SmallVector<mlir::Type> types;
  for (auto &[key, slot] : slots) {
    inits.push_back(key.second);
    types.push_back(key.second.getType());
  }
  for (unsigned id : collected) {
    auto t = llvm::cast<ModelTensorType>(first.values[id].getType());
    llvm::SmallVector<Size> sizes = t.getSizes();
    sizes.insert(sizes.begin(), Size(count));
    types.push_back(t.withSizes(sizes));
  }

  b.setInsertionPoint(first.top.front());
  // It is named by what it hands on.
  llvm::SmallVector<unsigned> handed;
  for (auto &[key, slot] : slots)
    handed.push_back(key.first);
  handed.append(collected.begin(), collected.end());
  llvm::SmallVector<StringRef> names =
      llvm::map_to_vector(handed, [&](unsigned id) { return model::nameOf(model::locationOf(first.values[id])); });
  mlir::OperationState state(model::withNames(names, location), model::RepeatOp::getOperationName(), inits, types,
                             {b.getNamedAttr("count", b.getI64IntegerAttr(count))});
  state.addRegion();
  auto repeat = llvm::cast<model::RepeatOp>(b.create(state));
  if (number && *number != 0)
    repeat.setFirst(*number);
  mlir::Block &body = repeat.getBody().emplaceBlock();
  body.addArgument(b.getIndexType(), model::withName(index, location));
  for (mlir::Value init : inits)
    body.addArgument(init.getType(), model::withName(model::nameOf(model::locationOf(init)), location));

  // The first iteration is the body.
  for (auto &[where, o] : outer)
    if (o.carried) {
      Operation *op = first.all[where.first];
      unsigned slot = slots[{o.id, op->getOperand(where.second)}];
      op->setOperand(where.second, body.getArgument(1 + slot));
    }
  for (auto &[i, places] : indexed) {
    auto param = llvm::cast<model::ParamOp>(first.all[i]);
    param.setName(pattern(param.getName(), places, param.getIndices().size()));
    param.getIndicesMutable().append(body.getArgument(0));
  }
  for (Operation *op : first.top)
    op->moveBefore(&body, body.end());
  llvm::SmallVector<mlir::Value> yields;
  for (auto &[key, slot] : slots)
    yields.push_back(first.values[key.first]);
  for (unsigned id : collected)
    yields.push_back(first.values[id]);
  b.setInsertionPointToEnd(&body);
  mlir::OperationState end(location, model::YieldOp::getOperationName(), yields, {}, {});
  Operation *yield = b.create(end);

  // Readers after the group.
  b.setInsertionPointAfter(repeat);
  for (auto [k, turn] : llvm::enumerate(group))
    for (unsigned id = 0; id < turn.values.size(); ++id) {
      mlir::Value old = turn.values[id], made;
      auto outsideNow = [&](mlir::OpOperand &use) {
        return isOutside(use) && use.getOwner() != yield && !repeat->isAncestor(use.getOwner());
      };
      if (llvm::none_of(old.getUses(), outsideNow))
        continue;
      auto slot = slotOf.find(id);
      if (&turn == &last && slot != slotOf.end()) {
        made = repeat.getResult(slot->second);
      } else {
        unsigned c = slots.size() + std::distance(collected.begin(), llvm::find(collected, id));
        auto type = llvm::cast<ModelTensorType>(old.getType());
        llvm::SmallVector<Size> one = type.getSizes();
        one.insert(one.begin(), Size(1));
        mlir::OperationState slice(
            old.getLoc(), model::SliceOp::getOperationName(), {repeat.getResult(c)}, {type.withSizes(one)},
            {b.getNamedAttr("axis", b.getI64IntegerAttr(0)), b.getNamedAttr("from", b.getStringAttr(std::to_string(k))),
             b.getNamedAttr("to", b.getStringAttr(std::to_string(k + 1)))});
        mlir::OperationState squeeze(old.getLoc(), model::SqueezeOp::getOperationName(),
                                     {b.create(slice)->getResult(0)}, {type},
                                     {b.getNamedAttr("axis", b.getI64IntegerAttr(0))});
        made = b.create(squeeze)->getResult(0);
      }
      old.replaceUsesWithIf(made, outsideNow);
    }
  for (Iteration &turn : llvm::reverse(group.drop_front()))
    for (Operation *op : llvm::reverse(turn.top))
      op->erase();
}

void Roller::run(std::vector<Iteration> &turns) {
  for (size_t s = 0; s < turns.size();) {
    outer.clear();
    number.reset();
    indexed.clear();
    size_t e = s + 1;
    while (e < turns.size() && !turns[s].top.empty()) {
      // A comparison that fails must leave no trace.
      OuterMap keepOuter = outer;
      std::optional<int64_t> keepNumber = number;
      llvm::MapVector<unsigned, Places> keepIndexed = indexed;
      if (!alike(turns[s], turns[e - 1], turns[e], e - s)) {
        outer = std::move(keepOuter);
        number = keepNumber;
        indexed = std::move(keepIndexed);
        break;
      }
      ++e;
    }
    if (e - s > 1)
      build(llvm::MutableArrayRef<Iteration>(turns).slice(s, e - s));
    s = e;
  }
}

void heddle::rollRepeats(mlir::OpBuilder &builder, llvm::ArrayRef<Unrolled> repeats) {
  for (const Unrolled &u : repeats) {
    std::vector<Iteration> turns;
    for (size_t i = 0; i + 1 < u.markers.size(); ++i) {
      llvm::SmallVector<Operation *> ops;
      for (Operation *op = u.markers[i]->getNextNode(); op && op != u.markers[i + 1]; op = op->getNextNode())
        ops.push_back(op);
      turns.emplace_back(ops);
    }
    for (Operation *m : u.markers)
      m->erase();
    Roller(builder, u.location, u.index).run(turns);
  }
}
