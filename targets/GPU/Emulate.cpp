//===- Emulate.cpp - the kernels as host code -----------------------------===//
//
// The emulator runs the very IR that goes to the NVPTX back end: what is specific to a device becomes a call, all else
// stays. `llvm.nvvm.a.b` is called `hdemu_a_b`, and what it gives in several registers it writes after its first
// argument. A block's shared memory is wherever the emulator says; other address spaces need nothing, as they are in
// one memory on the host.
//
//===----------------------------------------------------------------------===//

#include "targets/GPU/Emulate.h"
#include "targets/Host/CodeGen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

/// What the emulator defines, without `llvm.nvvm.`: registers of a thread, which never change, and what lanes do
/// together.
static constexpr StringRef kRegisters[] = {"read.ptx.sreg.tid.x", "read.ptx.sreg.ntid.x", "read.ptx.sreg.ctaid.x",
                                           "read.ptx.sreg.nctaid.x", "read.ptx.sreg.laneid"};
static constexpr StringRef kTogether[] = {"shfl.sync.bfly.f32",
                                          "shfl.sync.bfly.i32",
                                          "shfl.sync.idx.f32",
                                          "shfl.sync.idx.i32",
                                          "bar.warp.sync",
                                          "barrier.cta.sync.aligned.all",
                                          "barrier.cta.red.or.aligned.all",
                                          "cp.async.ca.shared.global.4.s",
                                          "cp.async.cg.shared.global.16.s",
                                          "cp.async.commit.group",
                                          "cp.async.wait.group",
                                          "ldmatrix.sync.aligned.m8n8.x4.b16.p3",
                                          "ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3",
                                          "mma.m16n8k16.row.col.bf16",
                                          "mbarrier.init.shared",
                                          "fence.mbarrier_init.release.cluster",
                                          "mbarrier.arrive.expect.tx.scope.cta.space.cta",
                                          "cp.async.bulk.global.to.shared.cluster",
                                          "wgmma.fence.sync.aligned",
                                          "wgmma.commit_group.sync.aligned",
                                          "wgmma.wait_group.sync.aligned"};

/// Calls of `f`, which gives a structure, become calls of `to` with a place for it as first argument: how a structure
/// is returned is agreed between LLVM and C in no simple way.
static void returnThroughMemory(Function &f, StringRef symbol) {
  SmallVector<Type *> types{PointerType::get(f.getContext(), 0)};
  llvm::append_range(types, f.getFunctionType()->params());
  Type *result = f.getReturnType();
  FunctionCallee to =
      f.getParent()->getOrInsertFunction(symbol, FunctionType::get(Type::getVoidTy(f.getContext()), types, false));
  cast<Function>(to.getCallee())->addFnAttr(Attribute::NoUnwind);
  cast<Function>(to.getCallee())->addFnAttr(Attribute::Convergent);
  DenseMap<Function *, Value *> places;
  for (User *user : make_early_inc_range(f.users())) {
    auto *call = cast<CallInst>(user);
    Value *&place = places[call->getFunction()];
    if (!place)
      place = IRBuilder<>(&*call->getFunction()->getEntryBlock().getFirstInsertionPt()).CreateAlloca(result);
    IRBuilder<> b(call);
    SmallVector<Value *> arguments{place};
    llvm::append_range(arguments, call->args());
    b.CreateCall(to, arguments);
    call->replaceAllUsesWith(b.CreateLoad(result, place));
    call->eraseFromParent();
  }
}

/// Assembly on registers that it changes (the f32 operands, all of its results) becomes a call of `symbol`, which
/// changes them in memory: (registers, number, other operands).
static void changeInMemory(CallInst &call, StringRef symbol, uint32_t number) {
  IRBuilder<> entry(&*call.getFunction()->getEntryBlock().getFirstInsertionPt()), b(&call);
  Module &module = *call.getModule();
  SmallVector<Value *> registers, arguments{nullptr, b.getInt32(number)};
  for (Value *operand : call.args())
    (operand->getType()->isFloatTy() ? registers : arguments).push_back(operand);
  auto *type = ArrayType::get(b.getFloatTy(), registers.size());
  Value *place = entry.CreateAlloca(type);
  arguments[0] = place;
  for (auto [i, value] : enumerate(registers))
    b.CreateStore(value, b.CreateConstInBoundsGEP2_32(type, place, 0, unsigned(i)));
  SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  FunctionCallee to = module.getOrInsertFunction(symbol, FunctionType::get(b.getVoidTy(), types, false));
  cast<Function>(to.getCallee())->addFnAttr(Attribute::Convergent);
  b.CreateCall(to, arguments);
  Value *all = PoisonValue::get(call.getType());
  for (size_t i = 0; i < registers.size(); ++i) {
    Value *one = b.CreateLoad(b.getFloatTy(), b.CreateConstInBoundsGEP2_32(type, place, 0, unsigned(i)));
    all = b.CreateInsertValue(all, one, unsigned(i));
  }
  call.replaceAllUsesWith(all);
  call.eraseFromParent();
}

static bool replaceAssembly(Module &module, std::string &error) {
  SmallVector<CallInst *> calls;
  for (Function &f : module)
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<CallInst>(&i); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst *call : calls) {
    StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
    uint32_t columns = 0;
    if (text.empty()) { // its operand, of which compilers are to know nothing
      call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
    } else if (StringRef rest = text; rest.consume_front("wgmma.mma_async.sync.aligned.m64n") &&
                                      !rest.consumeInteger(10, columns) && rest.starts_with("k16.f32.bf16.bf16 ") &&
                                      (rest.ends_with(", 1, 1, 1, 0, 0;") || rest.ends_with(", 1, 1, 1, 1;"))) {
      bool held = rest.contains("}, {"); // the left side in registers; then the right one is turned
      changeInMemory(*call, held ? "hdemu_wgmma_held" : "hdemu_wgmma", columns);
    } else if (text == "fence.proxy.async.shared::cta;") {
      call->setCalledOperand(
          module.getOrInsertFunction("hdemu_fence_proxy_async", call->getFunctionType()).getCallee());
    } else if (text == "wgmma.wait_group.sync.aligned 0;") {
      changeInMemory(*call, "hdemu_wgmma_settle", uint32_t(call->arg_size()));
    } else if (text.contains("mbarrier.try_wait.parity.shared::cta.b64")) {
      FunctionCallee to = module.getOrInsertFunction("hdemu_mbarrier_wait", call->getFunctionType());
      cast<Function>(to.getCallee())->addFnAttr(Attribute::Convergent);
      call->setCalledOperand(to.getCallee());
    } else {
      error = "the emulator does not know the assembly '" + text.take_front(60).str() + "'";
      return false;
    }
  }
  return true;
}

static bool replaceIntrinsics(Module &module, std::string &error) {
  for (Function &f : make_early_inc_range(module)) {
    StringRef name = f.getName();
    if (!name.consume_front("llvm.nvvm."))
      continue;
    bool constant = is_contained(kRegisters, name);
    if (!constant && !is_contained(kTogether, name)) {
      error = "the emulator does not know " + f.getName().str();
      return false;
    }
    std::string symbol = "hdemu_" + name.str();
    llvm::replace(symbol, '.', '_');
    if (f.getReturnType()->isStructTy()) {
      returnThroughMemory(f, symbol);
      f.eraseFromParent();
      continue;
    }
    FunctionCallee callee = module.getOrInsertFunction(symbol, f.getFunctionType());
    auto *to = cast<Function>(callee.getCallee());
    to->addFnAttr(Attribute::NoUnwind);
    if (constant)
      to->setDoesNotAccessMemory();
    else
      to->addFnAttr(Attribute::Convergent);
    f.replaceAllUsesWith(to);
    f.eraseFromParent();
  }
  return true;
}

/// Shared memory that kernels name becomes what hdemu_shared says; its bytes for each kernel that does.
static DenseMap<Function *, uint64_t> replaceShared(Module &module) {
  constexpr unsigned kShared = 3;
  DenseMap<Function *, uint64_t> bytes;
  FunctionCallee shared = module.getOrInsertFunction("hdemu_shared", PointerType::get(module.getContext(), 0));
  for (GlobalVariable &global : make_early_inc_range(module.globals())) {
    if (global.getAddressSpace() != kShared)
      continue;
    convertUsersOfConstantsToInstructions({&global});
    DenseMap<Function *, Value *> places;
    for (Use &use : make_early_inc_range(global.uses())) {
      Function *f = cast<Instruction>(use.getUser())->getFunction();
      Value *&place = places[f];
      if (!place) {
        IRBuilder<> b(&*f->getEntryBlock().getFirstInsertionPt());
        place = b.CreateAddrSpaceCast(b.CreateCall(shared), global.getType());
        bytes[f] += module.getDataLayout().getTypeAllocSize(global.getValueType());
      }
      use.set(place);
    }
    global.eraseFromParent();
  }
  return bytes;
}

/// Calls hdemu_load or hdemu_store (address, bytes) in front of every access to memory that is not the thread's own.
static void reportAccesses(Module &module) {
  Type *pointer = PointerType::get(module.getContext(), 0), *i32 = Type::getInt32Ty(module.getContext());
  Type *none = Type::getVoidTy(module.getContext());
  FunctionCallee loaded = module.getOrInsertFunction("hdemu_load", none, pointer, i32);
  FunctionCallee stored = module.getOrInsertFunction("hdemu_store", none, pointer, i32);
  for (Function &f : module)
    for (Instruction &i : make_early_inc_range(instructions(f))) {
      Value *address = getLoadStorePointerOperand(&i);
      if (!address || isa<AllocaInst>(getUnderlyingObject(address)))
        continue;
      IRBuilder<> b(&i);
      uint64_t bytes = module.getDataLayout().getTypeStoreSize(getLoadStoreType(&i));
      b.CreateCall(isa<LoadInst>(i) ? loaded : stored,
                   {b.CreateAddrSpaceCast(address, pointer), b.getInt32(uint32_t(bytes))});
    }
}

/// The numbers that a kernel gets by value come as a pointer; how many there are.
static uint64_t takeByPointer(Function &kernel) {
  uint64_t count = 0;
  for (Argument &argument : kernel.args())
    if (Type *type = argument.getParamByValType()) {
      count = cast<ArrayType>(type)->getNumElements();
      argument.removeAttr(Attribute::ByVal);
    }
  return count;
}

/// heddle_emulated_kernels: { name, function, bytes of shared memory, numbers } each, ended by a null name.
static void addTable(Module &module, ArrayRef<Function *> kernels, const DenseMap<Function *, uint64_t> &shared) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0), *i64 = Type::getInt64Ty(context);
  StructType *row = StructType::get(context, {pointer, pointer, i64, i64});
  SmallVector<Constant *> rows;
  for (Function *f : kernels) {
    Constant *text = ConstantDataArray::getString(context, f->getName());
    auto *name = new GlobalVariable(module, text->getType(), true, GlobalValue::PrivateLinkage, text);
    Constant *bytes = ConstantInt::get(i64, shared.lookup(f)), *numbers = ConstantInt::get(i64, takeByPointer(*f));
    rows.push_back(ConstantStruct::get(row, {name, f, bytes, numbers}));
  }
  rows.push_back(ConstantAggregateZero::get(row));
  auto *table = ArrayType::get(row, rows.size());
  new GlobalVariable(module, table, true, GlobalValue::ExternalLinkage, ConstantArray::get(table, rows),
                     "heddle_emulated_kernels");
}

bool heddle::gpu::emulate(Module &module, TargetMachine &host, bool races, std::string &error) {
  if (!replaceIntrinsics(module, error) || !replaceAssembly(module, error))
    return false;
  module.setTargetTriple(host.getTargetTriple());
  module.setDataLayout(host.createDataLayout());
  SmallVector<Function *> kernels;
  for (Function &f : module) {
    if (f.getCallingConv() == CallingConv::PTX_Kernel)
      kernels.push_back(&f);
    f.setCallingConv(CallingConv::C);
    f.removeFnAttr("target-cpu");
    f.removeFnAttr("target-features");
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", host.getTargetCPU());
      f.addFnAttr("target-features", host.getTargetFeatureString());
      f.addFnAttr(host::kOptimised);
    }
  }
  DenseMap<Function *, uint64_t> shared = replaceShared(module);
  if (races)
    reportAccesses(module);
  addTable(module, kernels, shared);
  return true;
}
