//===- Bulk.cpp - copies in a few large parts ------------------------------===//
//
// A matrix in groups and a piece of it have four words of as many rows side by side, so that a group is one
// cp.async.bulk: addresses and a number of bytes, no descriptor of the matrix. A barrier of the slot is told how many
// bytes a piece has and counts them as they come.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle::tile;
using heddle::loops::kWarp;

static Value toI32(TileCode &c, Value index) { return arith::IndexCastOp::create(c.b, c.b.getI32Type(), index); }

Value TileCode::address(Value shared) { return LLVM::PtrToIntOp::create(b, b.getI64Type(), shared); }

Value TileCode::barrierAt(Value first, Value slot) { return behind(first, mul(slot, 2)); }

void TileCode::makeBarriers(Value first, int64_t count, int64_t pieces) {
  for (int64_t slot = 0; slot < count; ++slot) {
    Value barrier = barrierAt(first, constant(slot));
    Value arrivals = arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(pieces)));
    NVVM::MBarrierInitOp::create(b, barrier, arrivals, Value());
  }
}

void TileCode::copyBulk(const Window &w, const Piece &piece, Value barrier) {
  bool left = piece.type.getImage() == Image::left;
  int64_t across = left ? piece.type.getRows() : piece.type.getColumns();
  int64_t groups = (left ? piece.type.getColumns() : piece.type.getRows()) / 4;
  Value all = left ? w.rows : w.columns, first = left ? w.row : w.column;
  Value depth = left ? w.columns : w.rows, k = left ? w.column : w.row;
  Value inside = min({sub(all, first), constant(across)});
  Value there = min({div(sub(depth, k), constant(4)), constant(groups)});
  Value bytes = mul(inside, 16);
  when(equal(thread, constant(0)), [&] {
    Value announced = toI32(*this, mul(bytes, there));
    NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, announced, NVVM::MemScopeKind::CTA, false, Value());
  });
  laneSync(); // no copy ends before its bytes are announced
  Type global = LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  Type cluster = LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  Value from = LLVM::AddrSpaceCastOp::create(b, global, w.from);
  for (int64_t before = 0; before < groups; before += kWarp) {
    Value group = add(thread, before);
    when(less(group, there), [&] {
      Value number = add(div(k, constant(4)), group), place = mul(add(mul(number, all), first), 4);
      Value source = LLVM::GEPOp::create(b, global, f32(), from, ArrayRef<LLVM::GEPArg>{toI64(place)});
      Value to = behind(piece.base, mul(group, piece.type.pitch()));
      Value target = LLVM::AddrSpaceCastOp::create(b, cluster, to), size = toI32(*this, bytes);
      NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, target, source, barrier, size, Value(), Value());
    });
  }
}

void TileCode::waitForPhase(Value barrier, Value parity) {
  // The unit gives up after a while; then it is asked again. Lanes may get different answers, so no branch is uniform.
  constexpr StringLiteral kWait = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
                                  "@done bra over; bra again; over: }";
  LLVM::InlineAsmOp::create(b, TypeRange{}, ValueRange{address(barrier), toI32(*this, parity)}, kWait, "l,r,~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}
