// What the files of the compiler and its tests include again and again, parsed once a build:
// the dialects and what they are on.
#ifndef HEDDLE_COMPILER_CMAKE_PRECOMPILED_H
#define HEDDLE_COMPILER_CMAKE_PRECOMPILED_H

#include "absl/status/statusor.h"
#include "compiler/cmake/PrecompiledMLIR.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Mask/IR/Mask.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#endif
