//===- Crc32.cpp - The checksum of zip files ------------------------------===//
#include "runtime/Base/Crc32.h"

#include <cstring>

namespace heddle::base {

Crc32::Crc32() {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit)
      remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320 : 0);
    table[0][i] = remainder;
  }
  for (int k = 1; k < 8; ++k)
    for (uint32_t i = 0; i < 256; ++i)
      table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

void Crc32::add(const void *data, size_t bytes) {
  auto *at = static_cast<const unsigned char *>(data);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint32_t low = 0, high = 0;
    memcpy(&low, at, 4);
    memcpy(&high, at + 4, 4);
    low ^= sum;
    sum = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
          table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^ table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
  }
  for (; bytes; --bytes, ++at)
    sum = sum >> 8 ^ table[0][(sum ^ *at) & 0xff];
}

} // namespace heddle::base
