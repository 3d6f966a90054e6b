// What the files of the runtime include again and again, parsed once a build.
#ifndef HEDDLE_RUNTIME_CORE_PRECOMPILEDRUNTIME_H
#define HEDDLE_RUNTIME_CORE_PRECOMPILEDRUNTIME_H

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#endif
