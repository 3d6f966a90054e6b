//===- OpBodies.cpp - what is done with elements and words ----------------===//
//
// Bodies of ops are code on scalars. Those that make elements are copied once for each element that a thread holds; one
// that may be long (`keep`: a mask) is copied once, in a loop that collects its answers as bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToNVVM/TileLaunch.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

Value Launch::bodyOf(Region &region, ValueRange arguments) {
  Block &body = region.front();
  map.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, map);
  Value made = cast<YieldOp>(body.getTerminator()).getValue();
  return made ? valueOf(made) : Value();
}

/// The rows of a thread take turns in the loop's variables, so that the body is there once for each column that it
/// holds.
void Launch::each(EachOp op) {
  FragType type = op.getFragment().getType();
  int64_t columns = type.heldColumns(), run = op.getRun();
  Value row = valueOf(op.getRow()), column = valueOf(op.getColumn()), rows = valueOf(op.getRows()),
        all = valueOf(op.getColumns());
  Apart here(c);
  (void)c.loop(c.constant(0), c.constant(type.heldRows()), 1, fragments.at(op.getFragment()),
               [&](Value i, ValueRange held) {
                 Value r = c.add(row, c.rowOf(type, i));
                 c.when(c.less(r, rows), [&] {
                   for (int64_t j = 0; j < columns; j += run) {
                     Value first = c.add(column, c.columnOf(type, c.constant(j)));
                     c.when(c.less(first, all), [&] {
                       for (int64_t k = 0; k < run; ++k)
                         (void)bodyOf(op.getBody(), {r, c.add(first, k), held[j + k]});
                     });
                   }
                 });
                 Values next(held.begin() + columns, held.end());
                 next.append(held.begin(), held.begin() + columns);
                 return next;
               });
}

/// Threads share the words out; others may read the piece before and after.
void Launch::put(PutOp op) {
  const Piece &piece = pieces.at(op.getPiece());
  int64_t columns = piece.type.getColumns(), count = piece.type.getRows() * columns;
  barrier();
  Apart here(c);
  c.loop(c.thread, c.constant(count), c.threads, [&](Value word) {
    Value row = c.div(word, c.constant(columns)), column = c.rem(word, c.constant(columns));
    Value at = c.wordAt(piece, row, column);
    Value now = LLVM::LoadOp::create(b, piece.type.getWord(), at, /*alignment=*/4);
    Value next = bodyOf(op.getBody(), {row, column, now});
    LLVM::StoreOp::create(b, next, at, /*alignment=*/4);
  });
  publish();
}

void Launch::mapElements(MapOp op) {
  FragType type = op.getType();
  int64_t columns = type.heldColumns();
  Block &body = op.getBody().front();
  bool asksRow = !body.getArgument(0).use_empty(), asksColumn = !body.getArgument(1).use_empty();
  Values made;
  for (int64_t i = 0; i < type.heldRows(); ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value row = asksRow ? c.rowOf(type, c.constant(i)) : c.constant(0);
      Value column = asksColumn ? c.columnOf(type, c.constant(j)) : c.constant(0);
      Values arguments{row, column};
      for (Value operand : op.getOperands()) {
        bool whole = operand.getType() == type;
        arguments.push_back(fragments.at(operand)[whole ? i * columns + j : i]);
      }
      made.push_back(bodyOf(op.getBody(), arguments));
    }
  fragments[op] = made;
}

/// 32 elements at a time.
void Launch::keep(KeepOp op) {
  FragType type = op.getFragment().getType();
  int64_t columns = type.heldColumns();
  Type i32 = b.getI32Type();
  Values held = fragments.at(op.getFragment()), kept;
  Value other = c.real(op.getOther().convertToDouble()), none = c.integer(i32, 0);
  for (int64_t first = 0; first < int64_t(held.size()); first += 32) {
    int64_t count = std::min<int64_t>(32, int64_t(held.size()) - first);
    Apart here(c);
    Value bits = c.loop(c.constant(0), c.constant(count), 1, ValueRange{none}, [&](Value e, ValueRange before) {
      Value number = c.add(e, first), i = c.div(number, c.constant(columns)), j = c.rem(number, c.constant(columns));
      Value row = c.rowOf(type, i), column = c.columnOf(type, j);
      Value yes = arith::ExtUIOp::create(b, i32, bodyOf(op.getBody(), {row, column}));
      Value shift = arith::IndexCastUIOp::create(b, i32, e), bit = arith::ShLIOp::create(b, yes, shift);
      Value all = arith::OrIOp::create(b, before[0], bit);
      return Values{all};
    })[0];
    for (int64_t e = 0; e < count; ++e) {
      Value bit = arith::AndIOp::create(b, bits, c.integer(i32, int32_t(uint32_t(1) << e)));
      Value yes = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, none);
      kept.push_back(c.select(yes, held[first + e], other));
    }
  }
  fragments[op] = kept;
}

/// A row of an `mma` fragment is in four neighbouring lanes.
void Launch::fold(FoldOp op) {
  FragType type = op.getFragment().getType();
  int64_t columns = type.heldColumns();
  const Values &held = fragments.at(op.getFragment());
  auto join = [&](Value x, Value y) {
    return op.getJoin() == Join::sum ? c.addf(x, y) : c.select({c.lessf(y, x), x, y});
  };
  auto word = [&](int32_t n) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(n)); };
  Values made;
  for (int64_t i = 0; i < type.heldRows(); ++i) {
    Value row = held[i * columns];
    for (int64_t j = 1; j < columns; ++j)
      row = join(row, held[i * columns + j]);
    for (int32_t apart : {1, 2}) {
      Value all = word(-1), distance = word(apart), clamp = word(31);
      Value there = NVVM::ShflOp::create(b, c.f32(), all, row, distance, clamp, NVVM::ShflKind::bfly, UnitAttr());
      row = join(row, there);
    }
    made.push_back(row);
  }
  fragments[op] = made;
}

void Launch::any(AnyOp op) {
  Value some;
  for (Value x : fragments.at(op.getFragment())) {
    Value is = bodyOf(op.getBody(), x);
    some = some ? Value(arith::OrIOp::create(b, some, is)) : is;
  }
  Type i32 = b.getI32Type();
  Value mine = arith::ExtUIOp::create(b, i32, some);
  auto joined =
      NVVM::BarrierOp::create(b, TypeRange{i32}, Value(), Value(),
                              NVVM::BarrierReductionAttr::get(b.getContext(), NVVM::BarrierReduction::OR), mine);
  Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, joined.getRes(), c.integer(i32, 0));
  map.map(op.getResult(), is);
}
