//===- AttentionItem.cpp - a work item and its tiles of keys --------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionItem.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

//===-- keys -----------------------------------------------------------------------===//

KeyView heddle::loops::keysOfElement(AttentionCode &c, Value batch) {
  Value past = c.length(Role::Past), all = c.length(Role::Keys);
  if (!c.plan.slotted)
    return {batch, past, all, batch, all, {}};
  Type i64 = c.b.getI64Type();
  Value start = c.toIndex(c.load(i64, c.at(c.args.starts, batch, i64)));
  Value slot = c.toIndex(c.load(i64, c.at(c.args.slots, batch, i64)));
  all = c.add(start, all);
  return {batch, c.add(start, past), all, slot, all, {}};
}

Value KeyCode::keyRows(Value firstKey) {
  Value rows = iota(firstKey);
  if (!keys.residue)
    return rows;
  rows = arith::MulIOp::create(b, rows, splatWord(constant(plan.classes)));
  return arith::AddIOp::create(b, rows, splatWord(keys.residue));
}

Value KeyCode::element(OpBuilder &builder, Value operand, ArrayRef<Value> at) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  auto type = cast<ModelTensorType>(operand.getType());
  Value index = constant(0), lanesOfKeys;
  for (auto [axis, i] : llvm::enumerate(at)) {
    Size n = type.getSize(axis);
    index = mul(index, length(operand, axis));
    bool vector = isa<VectorType>(i.getType());
    if (vector)
      lanesOfKeys = i;
    if (n.is(1))
      continue;
    index = add(index, vector ? toIndex(vector::ExtractOp::create(b, i, ArrayRef<int64_t>{0})) : i);
  }
  Type element = type.getElementType();
  Value address = this->at(tensor(operand), index, element);
  if (!lanesOfKeys)
    return load(element, address);
  if (type.getSize(type.getRank() - 1).is(1))
    return splat(load(element, address));
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanesOfKeys, splatWord(keys.all));
  return keys.residue ? gather(element, address, plan.classes, inside) : load(vec(element), address, inside);
}

void KeyCode::ask(llvm::function_ref<void(mask::Emitter &)> body) {
  auto load = [&](OpBuilder &at, Value operand, ArrayRef<Value> index) { return element(at, operand, index); };
  auto lengthOf = [&](Value t, int64_t axis) { return length(t, axis); };
  mask::Emitter e{b, b, b.getLoc()};
  e.batch = keys.batch;
  e.past = keys.past;
  e.queries = length(Role::Rows);
  e.keys = keys.count;
  e.keyStart = length(Role::KeyStart);
  e.load = load;
  e.lengthOf = lengthOf;
  e.lanes = lanes;
  if (keys.residue) {
    e.stride = plan.classes;
    e.offset = keys.residue;
  }
  body(e);
}

//===-- the item -------------------------------------------------------------------===//

Item heddle::loops::itemOf(AttentionCode &c, Value number) {
  const KernelShape &plan = c.plan;
  Value blocks = c.length(Role::RowBlocks), outer = c.div(number, blocks), rows = c.length(Role::Rows);
  Value keyStart = c.length(Role::KeyStart), classes = c.constant(plan.classes);
  Value heads = plan.classes == 1 ? outer : c.div(outer, classes);
  Item item;
  item.keys = keysOfElement(c, c.div(heads, c.constant(plan.groups())));
  Value past = item.keys.past;
  if (plan.classes == 1) {
    item.ownStart = c.sub(past, keyStart);
  } else {
    // Rows r with past + r = key_start + residue modulo the number of classes.
    Value residue = c.rem(outer, classes), shift = c.sub(c.add(residue, keyStart), past),
          turns = c.floorDiv(shift, classes);
    item.keys.residue = residue;
    item.rowStart = c.sub(shift, c.mul(turns, classes));
    item.keys.count = c.div(c.sub(c.add(item.keys.count, plan.classes - 1), residue), classes);
    item.ownStart = c.sub(c.constant(0), turns);
    rows = c.div(c.sub(c.add(rows, plan.classes - 1), item.rowStart), classes);
  }
  item.group = c.rem(heads, c.constant(plan.groups()));
  item.firstRow = c.mul(c.rem(number, blocks), plan.rowTile);
  item.count = c.min(c.constant(plan.rowTile), c.sub(c.mul(rows, plan.packed), item.firstRow));
  item.anchor = c.constant(0);
  if (!plan.leading.empty()) {
    Type i64 = c.b.getI64Type();
    Value anchors = c.at(c.args.scratch, c.length(Role::Anchors), c.f32());
    item.anchor = c.toIndex(c.load(i64, c.at(anchors, item.keys.batch, i64)));
    if (item.keys.residue) // the first key of the class that is not before it
      item.anchor = c.div(c.sub(c.add(item.anchor, plan.classes - 1), item.keys.residue), classes);
  }
  return item;
}

//===-- rows -----------------------------------------------------------------------===//

Value ItemCode::headOf(Value packedRow) {
  return plan.packed == 1 ? item.group : add({mul(item.group, plan.packed), rem(packedRow, constant(plan.packed))});
}
Value ItemCode::rowOf(Value packedRow) {
  Value row = div(packedRow, constant(plan.packed));
  return item.rowStart ? add(item.rowStart, mul(row, plan.classes)) : row;
}
Value ItemCode::ownOf(Value packedRow) { return add(div(packedRow, constant(plan.packed)), item.ownStart); }
Value ItemCode::positionOf(Value packedRow) { return add({keys.past, rowOf(packedRow)}); }

RowContext ItemCode::contextOf(Value index) {
  Value packedRow = add(item.firstRow, index), row = rowOf(packedRow), own = ownOf(packedRow), head = headOf(packedRow);
  return {index, row, add(keys.past, row), own, head};
}

Value ItemCode::queryOf(Value packedRow) {
  Value row = add({mul(keys.batch, length(Role::Rows)), rowOf(packedRow)});
  Value line = add({mul(row, plan.heads), headOf(packedRow)});
  return at(args.query, mul(line, plan.width), f32());
}

void ItemCode::byRowGroups(llvm::function_ref<void(Value, Value, int64_t)> body) {
  int64_t most = groupRows();
  Value done = tripFloor(item.count, most);
  body(constant(0), done, most);
  for (int64_t rows = llvm::bit_floor(uint64_t(most - 1)); rows; rows /= 2) {
    // Of a power of two what is done is a multiple of all lower ones.
    Value next =
        llvm::isPowerOf2_64(most) ? tripFloor(item.count, rows) : add(done, tripFloor(sub(item.count, done), rows));
    when(less(done, next), [&] { body(done, next, rows); });
    done = next;
  }
}

//===-- stored keys and values -----------------------------------------------------===//

Value ItemCode::headOfKeys() {
  Value element = plan.sharedKeys ? constant(0) : keys.element;
  Value head = mul(element, plan.kvHeads);
  return add(head, plan.packed == 1 ? div(item.group, constant(plan.heads / plan.kvHeads)) : item.group);
}

Value ItemCode::partOf(Value room) {
  Value part = headOfKeys();
  if (keys.residue)
    part = add(mul(part, plan.classes), keys.residue);
  return mul(part, room);
}

Value ItemCode::keysOf(const Tile &tile) {
  Value row = partOf(length(Role::KeyRoom));
  return at(args.key, mul(tile.keyTurn ? sub(row, tile.keyTurn) : row, plan.keyWords()), f32());
}

Value ItemCode::valuesOf(const Tile &tile, Value key) {
  Value row = add(partOf(length(Role::ValueRoom)), key);
  return at(args.value, mul(tile.valueTurn ? sub(row, tile.valueTurn) : row, plan.valueWords()), f32());
}

//===-- a tile and a group of rows -----------------------------------------------------===//

std::pair<Value, Value> ItemCode::seenBy(const Tile &tile, Value r) {
  if (!plan.mask)
    return {tile.begin, tile.end};
  Type i64 = b.getI64Type();
  Value from = area.bounds(r);
  Value begin = max(tile.begin, toIndex(load(i64, from)));
  Value end = min(tile.end, toIndex(load(i64, at(from, constant(1), i64))));
  return {begin, end};
}
