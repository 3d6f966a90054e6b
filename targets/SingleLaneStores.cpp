//===- SingleLaneStores.cpp - masked stores of one known lane -------------===//

#include "targets/SingleLaneStores.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>

/// The lane of a constant mask that is set, if there is exactly one.
static std::optional<unsigned> singleLane(const llvm::Value *mask) {
  const auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const llvm::Constant *lane = constant->getAggregateElement(i);
    if (!lane || (!lane->isNullValue() && (found || !lane->isOneValue())))
      return std::nullopt;
    if (!lane->isNullValue())
      found = i;
  }
  return found;
}

void heddle::storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      llvm::Value *value = call->getArgOperand(0), *address = call->getArgOperand(1);
      llvm::Type *element = value->getType()->getScalarType();
      std::optional<unsigned> lane = singleLane(call->getArgOperand(call->arg_size() - 1));
      unsigned bytes = element->getScalarSizeInBits() / 8;
      if (!lane || !element->isIntegerTy() || bytes == 0)
        continue;
      llvm::IRBuilder<> builder(call);
      llvm::Value *place = builder.CreateConstInBoundsGEP1_64(element, address, *lane);
      llvm::Align align = llvm::commonAlignment(call->getParamAlign(1).valueOrOne(), uint64_t(*lane) * bytes);
      llvm::StoreInst *store =
          builder.CreateAlignedStore(builder.CreateExtractElement(value, uint64_t(*lane)), place, align);
      store->setAAMetadata(call->getAAMetadata());
      call->eraseFromParent();
    }
}
