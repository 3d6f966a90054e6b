// What the compilers of tokenizers and chat templates, which know no LLVM, include again and again.
#ifndef HEDDLE_COMPILER_CMAKE_PRECOMPILEDTEXT_H
#define HEDDLE_COMPILER_CMAKE_PRECOMPILEDTEXT_H

#include "runtime/Precompiled.h"
#include <nlohmann/json.hpp>

#endif
