//===- ModelInfo.h - heddle info --------------------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_MODELINFO_MODELINFO_H
#define HEDDLE_COMPILER_MODELINFO_MODELINFO_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"

namespace heddle {

/// `heddle info`: what a model is, from headers alone; also of one that cannot be compiled. An error only where nothing
/// can be read at all.
int showInfo(const Console &console, const CompileOptions &options, bool json, bool everyTensor);

} // namespace heddle

#endif // HEDDLE_COMPILER_MODELINFO_MODELINFO_H
