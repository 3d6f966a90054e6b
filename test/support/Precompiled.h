// What unit tests that know no LLVM include again and again.
#ifndef HEDDLE_TEST_SUPPORT_PRECOMPILED_H
#define HEDDLE_TEST_SUPPORT_PRECOMPILED_H

#include "runtime/Precompiled.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#endif
