/*===- PictureFile.h - PNG and JPEG to pixels ---------------------*- C -*-===//
//
// Decodes PNG and JPEG with libpng and libjpeg. It is an archive of its own,
// linked only into models that take pictures; all others need neither library.
//
//===----------------------------------------------------------------------===*/
#ifndef HEDDLE_RUNTIME_MEDIA_PICTUREFILE_H
#define HEDDLE_RUNTIME_MEDIA_PICTUREFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_pixels {
  uint8_t *rgb; /**< height * width * 3 bytes; the caller frees it */
  uint32_t width, height;
  char error[256]; /**< why there are none */
};

enum { HEDDLE_MAX_SIDE = 32768 };

/** Returns 0, or -1 with `error`. Alpha is dropped, grey is spread over three
 *  channels, of 16 bits the upper 8 are taken, and the picture is turned as its
 *  EXIF says (JPEG, PNG) or its XMP (JPEG).
 *  Pictures of more than `max_pixels` are refused before they are decoded. */
int heddle_decode_picture(const uint8_t *data, size_t size, uint64_t max_pixels, struct heddle_pixels *pixels);

/** What the licences of both libraries ask to be said; zlib's is said by every program. */
const char *heddle_notices_of_pictures(void);
extern const char heddle_picture_notices[];

#ifdef __cplusplus
}
#endif

#endif
