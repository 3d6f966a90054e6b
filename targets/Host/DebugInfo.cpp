//===- DebugInfo.cpp - lines of the description in the code ---------------===//
//
// MLIR translates a location to a line of debug info if its function has a DISubprogram. It would merge the places of a
// fused location to line 0, and take the file from the function; so each op gets one place, under a scope of its file.
//
//===----------------------------------------------------------------------===//

#include "targets/Host/DebugInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace heddle;

/// The first place in a file that a location has; null without one.
static FileLineColLoc placeOf(Location where) { return where->findInstanceOf<FileLineColLoc>(); }

/// The first place of a function or of an op in it.
static FileLineColLoc firstPlace(LLVM::LLVMFuncOp function) {
  FileLineColLoc place = placeOf(function.getLoc());
  if (!place)
    function.walk([&](Operation *op) {
      place = placeOf(op->getLoc());
      return place ? WalkResult::interrupt() : WalkResult::advance();
    });
  return place ? place : FileLineColLoc::get(function.getContext(), "heddle", 0, 0);
}

namespace {
class Writer {
public:
  Writer(ModuleOp module, host::DebugLines kind);
  void add(LLVM::LLVMFuncOp function);

private:
  LLVM::DIFileAttr fileOf(StringAttr name);
  DistinctAttr distinct() const { return DistinctAttr::create(UnitAttr::get(context)); }

  MLIRContext *context;
  std::string folder;
  llvm::StringMap<LLVM::DIFileAttr> files;
  LLVM::DICompileUnitAttr unit;
  LLVM::DISubroutineTypeAttr type;
};
} // namespace

Writer::Writer(ModuleOp module, host::DebugLines kind) : context(module.getContext()) {
  llvm::SmallString<256> here;
  if (!llvm::sys::fs::current_path(here))
    folder = here.str().str();
  FileLineColLoc place;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!place && !function.isExternal())
      place = firstPlace(function);
  unit = LLVM::DICompileUnitAttr::get(distinct(), llvm::dwarf::DW_LANG_C,
                                      fileOf(place ? place.getFilename() : StringAttr::get(context, "heddle")),
                                      StringAttr::get(context, "heddle"), /*isOptimized=*/true,
                                      kind == host::DebugLines::Tables ? LLVM::DIEmissionKind::LineTablesOnly
                                                                       : LLVM::DIEmissionKind::DebugDirectivesOnly);
  type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
}

LLVM::DIFileAttr Writer::fileOf(StringAttr name) {
  LLVM::DIFileAttr &file = files[name.getValue()];
  if (!file)
    file = LLVM::DIFileAttr::get(context, name.getValue(), folder);
  return file;
}

void Writer::add(LLVM::LLVMFuncOp function) {
  FileLineColLoc first = firstPlace(function);
  LLVM::DIFileAttr file = fileOf(first.getFilename());
  StringAttr name = function.getSymNameAttr();
  auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
  auto scope = LLVM::DISubprogramAttr::get(context, distinct(), unit, file, name, name, file, first.getLine(),
                                           first.getLine(), flags, type, {}, {});
  function.walk([&](Operation *op) {
    FileLineColLoc place = op == function.getOperation() ? first : placeOf(op->getLoc());
    if (!place) // LLVM demands that a call has a place
      place = FileLineColLoc::get(first.getFilename(), 0, 0);
    LLVM::DIFileAttr own = fileOf(place.getFilename());
    Attribute under = own == file ? Attribute(scope) : Attribute(LLVM::DILexicalBlockFileAttr::get(scope, own, 0));
    op->setLoc(FusedLoc::get({Location(place)}, under, context));
  });
}

void heddle::host::addDebugInfo(ModuleOp module, DebugLines kind) {
  Writer writer(module, kind);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      writer.add(function);
}
