//===- Crc32.h - The checksum of zip files ----------------------*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_BASE_CRC32_H
#define HEDDLE_RUNTIME_BASE_CRC32_H

#include <cstddef>
#include <cstdint>

namespace heddle::base {

/// CRC-32 as in ISO 3309, eight bytes a step. The tables are made at run time: those of zlib would be 13 KB of every
/// program.
class Crc32 {
public:
  Crc32();
  void add(const void *data, size_t bytes);
  uint32_t value() const { return ~sum; }
  void restart() { sum = 0xffffffff; }

private:
  uint32_t table[8][256];
  uint32_t sum = 0xffffffff;
};

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_CRC32_H
