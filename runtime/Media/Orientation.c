/*===- Orientation.c - Which way up a photograph is -----------------------===*/
#include "runtime/Media/Orientation.h"

#include <stdlib.h>
#include <string.h>

enum { kOrientation = 0x0112, kShort = 3, kLong = 4 };

struct tiff {
  const uint8_t *data;
  size_t size;
  int big; /* the most significant byte comes first */
};

/** The number of `bytes` (2 or 4) at `at`; 0 outside of the block. */
static uint32_t number_at(const struct tiff *tiff, size_t at, size_t bytes) {
  if (at > tiff->size || tiff->size - at < bytes)
    return 0;
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= (uint32_t)tiff->data[at + i] << 8 * (tiff->big ? bytes - 1 - i : i);
  return value;
}

int heddle_exif_orientation(const uint8_t *exif, size_t size) {
  if (size >= 6 && memcmp(exif, "Exif\0\0", 6) == 0) {
    exif += 6;
    size -= 6;
  }
  if (size < 8 || (memcmp(exif, "II*\0", 4) != 0 && memcmp(exif, "MM\0*", 4) != 0))
    return 0;
  struct tiff tiff = {exif, size, exif[0] == 'M'};
  size_t directory = number_at(&tiff, 4, 4);
  uint32_t entries = number_at(&tiff, directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    size_t entry = directory + 2 + (size_t)i * 12;
    if (number_at(&tiff, entry, 2) != kOrientation)
      continue;
    uint32_t type = number_at(&tiff, entry + 2, 2);
    uint32_t value = type == kShort  ? number_at(&tiff, entry + 8, 2)
                     : type == kLong ? number_at(&tiff, entry + 8, 4)
                                     : 0;
    return value <= 8 ? (int)value : 0;
  }
  return 0;
}

int heddle_xmp_orientation(const uint8_t *xmp, size_t size) {
  static const char name[] = "tiff:Orientation";
  const size_t length = sizeof name - 1;
  for (size_t i = 0; i + length + 3 <= size; ++i) {
    if (memcmp(xmp + i, name, length) != 0)
      continue;
    const uint8_t *rest = xmp + i + length; /* ="6" or >6< */
    const uint8_t *digit = rest[0] == '=' && rest[1] == '"' ? rest + 2 : rest[0] == '>' ? rest + 1 : NULL;
    if (digit && *digit >= '1' && *digit <= '8')
      return *digit - '0';
  }
  return 0;
}

int heddle_turn_upright(int orientation, uint8_t **rgb, uint32_t *width, uint32_t *height) {
  if (orientation < 2 || orientation > 8)
    return 0;
  const size_t w = *width, h = *height;
  /* Columns of the result are rows of what is stored. */
  const int exchange = orientation >= 5;
  const int from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const int from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const size_t out_w = exchange ? h : w, out_h = exchange ? w : h;
  uint8_t *out = malloc(w * h * 3);
  if (!out)
    return -1;
  for (size_t y = 0; y < out_h; ++y)
    for (size_t x = 0; x < out_w; ++x) {
      size_t column = exchange ? y : x, row = exchange ? x : y;
      if (from_right)
        column = w - 1 - column;
      if (from_bottom)
        row = h - 1 - row;
      memcpy(out + (y * out_w + x) * 3, *rgb + (row * w + column) * 3, 3);
    }
  free(*rgb);
  *rgb = out;
  *width = (uint32_t)out_w;
  *height = (uint32_t)out_h;
  return 0;
}
