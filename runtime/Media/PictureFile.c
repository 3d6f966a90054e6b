/*===- PictureFile.c - PNG and JPEG to pixels -----------------------------===//
//
// Both libraries leave by longjmp when a file is damaged. That stays inside
// this file, which is C: no destructor is ever jumped over, and what must
// survive the jump lives in one struct outside of the function that jumps.
//
//===----------------------------------------------------------------------===*/
#include "runtime/Media/PictureFile.h"
#include "runtime/Media/Orientation.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

enum { kMaxScans = 200 };

struct reader {
  jmp_buf leave;
  struct heddle_pixels *out;
  const uint8_t *data;
  size_t size, at;
  png_structp png;
  png_infop info;
  png_bytep *rows;
  int decoded; /* all pixels are there; what follows them may be damaged */
  int orientation;
};

static int refuse(struct heddle_pixels *out, const char *why) {
  snprintf(out->error, sizeof out->error, "%s", why);
  return -1;
}

/** Room for the pixels, once the header is known. */
static int reserve(struct heddle_pixels *out, uint64_t width, uint64_t height, uint64_t max_pixels) {
  if (width == 0 || height == 0 || width > HEDDLE_MAX_SIDE || height > HEDDLE_MAX_SIDE || width * height > max_pixels) {
    snprintf(out->error, sizeof out->error, "%llu x %llu pixels, expected 1 to %d a side and at most %llu",
             (unsigned long long)width, (unsigned long long)height, (int)HEDDLE_MAX_SIDE,
             (unsigned long long)max_pixels);
    return -1;
  }
  out->width = (uint32_t)width;
  out->height = (uint32_t)height;
  out->rgb = malloc((size_t)(width * height * 3));
  return out->rgb ? 0 : refuse(out, "no memory for the pixels");
}

/*===----------------------------------------------------------------------===*/
/* PNG */

static void png_failed(png_structp png, png_const_charp why) {
  struct reader *reader = png_get_error_ptr(png);
  snprintf(reader->out->error, sizeof reader->out->error, "damaged PNG at byte %zu: %s", reader->at, why);
  longjmp(reader->leave, 1);
}

static void png_warned(png_structp png, png_const_charp why) {
  (void)png;
  (void)why;
}

static void png_pull(png_structp png, png_bytep bytes, size_t count) {
  struct reader *reader = png_get_io_ptr(png);
  if (count > reader->size - reader->at)
    png_error(png, "the file ends in the middle");
  memcpy(bytes, reader->data + reader->at, count);
  reader->at += count;
}

static void find_png_orientation(struct reader *reader) {
  png_bytep exif = NULL;
  png_uint_32 size = 0;
  if (png_get_eXIf_1(reader->png, reader->info, &size, &exif))
    reader->orientation = heddle_exif_orientation(exif, size);
}

static int read_png(struct reader *reader, uint64_t max_pixels) {
  if (setjmp(reader->leave))
    return reader->decoded ? 0 : -1;
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, png_failed, png_warned);
  reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
  if (!reader->info)
    return refuse(reader->out, "no memory for the PNG reader");
  png_set_read_fn(reader->png, reader, png_pull);
  png_set_user_limits(reader->png, HEDDLE_MAX_SIDE, HEDDLE_MAX_SIDE);
  png_set_chunk_malloc_max(reader->png, 8 << 20);
  png_set_chunk_cache_max(reader->png, 128);
  png_read_info(reader->png, reader->info);
  uint32_t width = png_get_image_width(reader->png, reader->info);
  uint32_t height = png_get_image_height(reader->png, reader->info);
  if (reserve(reader->out, width, height, max_pixels))
    return -1;
  png_set_strip_16(reader->png);
  png_set_palette_to_rgb(reader->png);
  png_set_expand_gray_1_2_4_to_8(reader->png);
  png_set_gray_to_rgb(reader->png);
  png_set_strip_alpha(reader->png);
  png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  if (png_get_rowbytes(reader->png, reader->info) != (size_t)width * 3)
    return refuse(reader->out, "a PNG with rows that are no RGB");
  reader->rows = malloc(height * sizeof *reader->rows);
  if (!reader->rows)
    return refuse(reader->out, "no memory for the rows");
  for (uint32_t y = 0; y < height; ++y)
    reader->rows[y] = reader->out->rgb + (size_t)y * width * 3;
  png_read_image(reader->png, reader->rows);
  reader->decoded = 1;
  find_png_orientation(reader);
  png_read_end(reader->png, reader->info); /* EXIF may stand behind the pixels */
  find_png_orientation(reader);
  return 0;
}

/*===----------------------------------------------------------------------===*/
/* JPEG */

struct jpeg_reader {
  struct jpeg_error_mgr errors; /* first: libjpeg hands out its address */
  struct jpeg_progress_mgr progress;
  jmp_buf leave;
  struct heddle_pixels *out;
  struct jpeg_decompress_struct info;
  int made;
  int orientation;
};

static void jpeg_failed(j_common_ptr common) {
  struct jpeg_reader *reader = (struct jpeg_reader *)common->err;
  char text[JMSG_LENGTH_MAX];
  common->err->format_message(common, text);
  snprintf(reader->out->error, sizeof reader->out->error, "damaged JPEG: %s", text);
  longjmp(reader->leave, 1);
}

/** A file that is cut off is a warning to libjpeg, which makes the rest grey. */
static void jpeg_warned(j_common_ptr common, int level) {
  int code = common->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
    jpeg_failed(common);
}

static void jpeg_quiet(j_common_ptr common) { (void)common; }

/** A progressive file may ask for the whole picture again and again. */
static void jpeg_watch(j_common_ptr common) {
  struct jpeg_reader *reader = (struct jpeg_reader *)common->err;
  if (reader->info.input_scan_number > kMaxScans) {
    refuse(reader->out, "a JPEG with more than 200 scans");
    longjmp(reader->leave, 1);
  }
}

/** EXIF and XMP both are in APP1 markers; EXIF counts first, as in Pillow. */
static int jpeg_orientation(const struct jpeg_decompress_struct *info) {
  static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
  int from_xmp = 0;
  for (jpeg_saved_marker_ptr marker = info->marker_list; marker; marker = marker->next) {
    int orientation = 0;
    if (marker->data_length > sizeof exif && memcmp(marker->data, exif, sizeof exif) == 0)
      orientation = heddle_exif_orientation(marker->data, marker->data_length);
    else if (marker->data_length > sizeof xmp && memcmp(marker->data, xmp, sizeof xmp) == 0)
      from_xmp = heddle_xmp_orientation(marker->data + sizeof xmp, marker->data_length - sizeof xmp);
    if (orientation)
      return orientation;
  }
  return from_xmp;
}

static int read_jpeg(struct jpeg_reader *reader, const uint8_t *data, size_t size, uint64_t max_pixels) {
  struct jpeg_decompress_struct *info = &reader->info;
  info->err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = jpeg_failed;
  reader->errors.emit_message = jpeg_warned;
  reader->errors.output_message = jpeg_quiet;
  if (setjmp(reader->leave))
    return -1;
  jpeg_create_decompress(info);
  reader->made = 1;
  reader->progress.progress_monitor = jpeg_watch;
  info->progress = &reader->progress;
  jpeg_mem_src(info, data, (unsigned long)size);
  jpeg_save_markers(info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(info, TRUE);
  reader->orientation = jpeg_orientation(info);
  if (info->num_components != 1 && info->num_components != 3)
    return refuse(reader->out, "a JPEG in CMYK, expected colours or grey");
  info->out_color_space = JCS_RGB;
  if (reserve(reader->out, info->image_width, info->image_height, max_pixels))
    return -1;
  jpeg_start_decompress(info);
  while (info->output_scanline < info->output_height) {
    JSAMPROW row = reader->out->rgb + (size_t)info->output_scanline * info->output_width * 3;
    jpeg_read_scanlines(info, &row, 1);
  }
  return 0;
}

/*===----------------------------------------------------------------------===*/

int heddle_decode_picture(const uint8_t *data, size_t size, uint64_t max_pixels, struct heddle_pixels *pixels) {
  memset(pixels, 0, sizeof *pixels);
  int failed = -1, orientation = 0;
  if (size >= 8 && png_sig_cmp(data, 0, 8) == 0) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
      return refuse(pixels, "no memory for the PNG reader");
    reader->out = pixels;
    reader->data = data;
    reader->size = size;
    failed = read_png(reader, max_pixels);
    orientation = reader->orientation;
    png_destroy_read_struct(reader->png ? &reader->png : NULL, reader->info ? &reader->info : NULL, NULL);
    free(reader->rows);
    free(reader);
  } else if (size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff) {
    struct jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
      return refuse(pixels, "no memory for the JPEG reader");
    reader->out = pixels;
    failed = read_jpeg(reader, data, size, max_pixels);
    orientation = reader->orientation;
    if (reader->made)
      jpeg_destroy_decompress(&reader->info);
    free(reader);
  } else {
    refuse(pixels, "neither PNG nor JPEG");
  }
  if (!failed && heddle_turn_upright(orientation, &pixels->rgb, &pixels->width, &pixels->height))
    failed = refuse(pixels, "no memory to turn the picture");
  if (failed) {
    free(pixels->rgb);
    pixels->rgb = NULL;
  }
  return failed;
}

const char *heddle_notices_of_pictures(void) { return heddle_picture_notices; }
