/*===- Orientation.h - Which way up a photograph is ----------------*- C -*-===//
//
// A camera stores the pixels as its sensor reads them, and in EXIF's tag
// 0x0112 how to turn them. Published loaders of pictures apply the tag.
//
//===----------------------------------------------------------------------===*/
#ifndef HEDDLE_RUNTIME_MEDIA_ORIENTATION_H
#define HEDDLE_RUNTIME_MEDIA_ORIENTATION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The orientation in a block of EXIF (a TIFF header and its first directory): 1 to 8.
 *  0 where there is none; a damaged block has none. */
int heddle_exif_orientation(const uint8_t *exif, size_t size);

/** The same of an XMP packet, which some programs write in place of EXIF. */
int heddle_xmp_orientation(const uint8_t *xmp, size_t size);

/** Turns `rgb`, [height][width][3], upright; 5 to 8 exchange the sides. Does nothing
 *  for 0 and 1. Returns -1, with nothing changed, where memory is short. */
int heddle_turn_upright(int orientation, uint8_t **rgb, uint32_t *width, uint32_t *height);

#ifdef __cplusplus
}
#endif

#endif
