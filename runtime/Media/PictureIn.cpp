//===- PictureIn.cpp - A picture in ---------------------------------------===//
#include "runtime/Core/Parts.h"
#include "runtime/Media/Picture.h"
#include "runtime/Media/PictureFile.h"

#include <cstdlib>

namespace heddle::rt {

static constexpr uint64_t kMaxPixels = uint64_t(1) << 26;

static Status readPicture(const std::string &path, const std::string &bytes, Picture &picture) {
  struct heddle_pixels pixels;
  if (heddle_decode_picture(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), kMaxPixels, &pixels)) {
    std::string why = pixels.error;
    return badFile(quote(path) + ": " + why).withHelp("this model takes a picture, PNG or JPEG");
  }
  picture.width = pixels.width;
  picture.height = pixels.height;
  picture.rgb.assign(pixels.rgb, pixels.rgb + size_t(pixels.width) * pixels.height * 3);
  free(pixels.rgb);
  return {};
}

static Status pictureTensor(const Card &card, const std::string &path, const std::string &bytes, Shape &shape,
                            std::vector<float> &values) {
  Picture picture;
  HEDDLE_TRY(readPicture(path, bytes, picture));
  HEDDLE_TRY(pixelValues(picture, card.picture, values));
  int64_t area = picture.width * picture.height;
  shape.insert(shape.end(), {int64_t(values.size()) / area, picture.height, picture.width});
  return {};
}

} // namespace heddle::rt

const heddle::rt::MediaTensor heddle_read_picture = heddle::rt::pictureTensor;
