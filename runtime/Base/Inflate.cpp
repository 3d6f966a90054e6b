//===- Inflate.cpp - Compressed members of zip files ----------------------===//
//
// zlib's inflateBack: made for this, and half the code of its inflate.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/Inflate.h"

#include <zlib.h>

namespace heddle::base {

static Inflated inflateAll(InflateEnds &ends) {
  unsigned char window[32768];
  z_stream stream = {};
  if (inflateBackInit(&stream, 15, window) != Z_OK)
    return Inflated::NoMemory;
  auto pull = [](void *context, z_const unsigned char **bytes) {
    const unsigned char *lent = nullptr;
    unsigned count = static_cast<InflateEnds *>(context)->pull(lent);
    *bytes = const_cast<z_const unsigned char *>(lent);
    return count;
  };
  auto push = [](void *context, unsigned char *bytes, unsigned count) {
    return static_cast<InflateEnds *>(context)->push(bytes, count) ? 0 : 1;
  };
  int result = inflateBack(&stream, pull, &ends, push, &ends);
  bool all = stream.avail_in == 0, pushed = result == Z_BUF_ERROR && stream.next_in != nullptr;
  inflateBackEnd(&stream);
  return result == Z_STREAM_END && all ? Inflated::Done : pushed ? Inflated::Stopped : Inflated::Damaged;
}

} // namespace heddle::base

const heddle::base::Inflate heddle_inflate = heddle::base::inflateAll;

const char *const heddle_notices_of_inflate = R"(
== zlib

Copyright (C) 1995-2022 Jean-loup Gailly and Mark Adler

This software is provided 'as-is', without any express or implied
warranty. In no event will the authors be held liable for any damages
arising from the use of this software.

Permission is granted to anyone to use this software for any purpose,
including commercial applications, and to alter it and redistribute it
freely, subject to the following restrictions:

1. The origin of this software must not be misrepresented; you must not
   claim that you wrote the original software. If you use this software
   in a product, an acknowledgment in the product documentation would be
   appreciated but is not required.
2. Altered source versions must be plainly marked as such, and must not be
   misrepresented as being the original software.
3. This notice may not be removed or altered from any source
   distribution.
)";
