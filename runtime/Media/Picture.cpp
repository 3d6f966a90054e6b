//===- Picture.cpp - From pixels to a model's input -----------------------===//
//
// Pillow resizes in two passes, first along rows, then along columns, with
// weights in fixed point (22 bits after the point) and bytes in between.
//
//===----------------------------------------------------------------------===//
#include "runtime/Media/Picture.h"

#include <algorithm>
#include <cmath>

namespace heddle::rt {

namespace {

constexpr int kBits = 32 - 8 - 2;
constexpr int64_t kMaxSide = 16384;

double sinc(double x) { return x == 0 ? 1 : std::sin(x * M_PI) / (x * M_PI); }

double weightAt(Resample filter, double x) {
  x = std::fabs(x);
  switch (filter) {
  case Resample::Box: return x <= 0.5 ? 1 : 0;
  case Resample::Bilinear: return x < 1 ? 1 - x : 0;
  case Resample::Hamming: return x == 0 ? 1 : x < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(x * M_PI)) : 0;
  case Resample::Bicubic: {
    constexpr double a = -0.5;
    return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
  }
  default: return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
}

double supportOf(Resample filter) {
  return filter == Resample::Box ? 0.5 : filter == Resample::Bicubic ? 2 : filter == Resample::Lanczos ? 3 : 1;
}

/// For every new pixel of a row: the first old pixel, and the weights of it and
/// of those that follow.
struct Taps {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Taps> tapsOf(int64_t before, int64_t after, Resample filter) {
  double scale = double(before) / double(after), wide = std::max(scale, 1.0);
  double support = supportOf(filter) * wide;
  std::vector<Taps> all(after);
  for (int64_t i = 0; i < after; ++i) {
    double centre = (double(i) + 0.5) * scale;
    int64_t first = std::max<int64_t>(0, int64_t(centre - support + 0.5));
    int64_t last = std::min<int64_t>(before, int64_t(centre + support + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
      weights.push_back(weightAt(filter, (double(k) - centre + 0.5) * (1 / wide)));
      sum += weights.back();
    }
    all[i].first = first;
    for (double weight : weights) {
      double share = sum != 0 ? weight / sum : weight;
      all[i].weights.push_back(int32_t(share * (1 << kBits) + (share < 0 ? -0.5 : 0.5)));
    }
  }
  return all;
}

uint8_t clipped(int64_t sum) { return uint8_t(std::clamp<int64_t>(sum >> kBits, 0, 255)); }

} // namespace

// Nearest takes single pixels; all other filters sum `Taps` along x, then along
// y, rounding to bytes after each pass.
Picture resized(const Picture &picture, int64_t width, int64_t height, Resample filter) {
  Picture out;
  out.width = width;
  out.height = height;
  if (filter == Resample::Nearest) {
    out.rgb.resize(width * height * 3);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        auto fromX = int64_t((double(x) + 0.5) * double(picture.width) / double(width)),
             fromY = int64_t((double(y) + 0.5) * double(picture.height) / double(height));
        for (int c = 0; c < 3; ++c)
          out.rgb[(y * width + x) * 3 + c] = picture.rgb[(fromY * picture.width + fromX) * 3 + c];
      }
    return out;
  }
  Picture rows = picture;
  if (width != picture.width) {
    rows.width = width;
    rows.rgb.assign(width * picture.height * 3, 0);
    std::vector<Taps> taps = tapsOf(picture.width, width, filter);
    for (int64_t y = 0; y < picture.height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) {
          int64_t sum = int64_t(1) << (kBits - 1);
          const uint8_t *from = &picture.rgb[(y * picture.width + taps[x].first) * 3 + c];
          for (int32_t weight : taps[x].weights) {
            sum += int64_t(*from) * weight;
            from += 3;
          }
          rows.rgb[(y * width + x) * 3 + c] = clipped(sum);
        }
  }
  if (height == picture.height)
    return rows;
  out.rgb.assign(width * height * 3, 0);
  std::vector<Taps> taps = tapsOf(picture.height, height, filter);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width * 3; ++x) {
      int64_t sum = int64_t(1) << (kBits - 1);
      const uint8_t *from = &rows.rgb[taps[y].first * width * 3 + x];
      for (int32_t weight : taps[y].weights) {
        sum += int64_t(*from) * weight;
        from += width * 3;
      }
      out.rgb[y * width * 3 + x] = clipped(sum);
    }
  return out;
}

Picture middle(const Picture &picture, int64_t width, int64_t height) {
  Picture out;
  out.width = width;
  out.height = height;
  out.rgb.assign(width * height * 3, 0);
  // Rounds towards minus infinity, as Python's // does.
  auto half = [](int64_t n) { return n >= 0 ? n / 2 : -((1 - n) / 2); };
  int64_t top = half(picture.height - height), left = half(picture.width - width);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      int64_t fromY = y + top, fromX = x + left;
      if (fromY < 0 || fromX < 0 || fromY >= picture.height || fromX >= picture.width)
        continue;
      for (int c = 0; c < 3; ++c)
        out.rgb[(y * width + x) * 3 + c] = picture.rgb[(fromY * picture.width + fromX) * 3 + c];
    }
  return out;
}

/// The size to resize to, before the centre is cropped.
static void targetSize(const Picture &picture, const Settings &settings, int64_t &width, int64_t &height) {
  width = picture.width;
  height = picture.height;
  std::vector<int64_t> size = settings.integers(picture::size);
  if (size.size() == 2) {
    height = size[0];
    width = size[1];
  } else if (settings.has(picture::shortest)) {
    double shorter = settings.number(picture::shortest);
    double scale = shorter / double(std::min(width, height));
    double newWidth = double(width) * scale, newHeight = double(height) * scale;
    if (settings.has(picture::longest)) {
      double most = settings.number(picture::longest), longer = std::max(newWidth, newHeight);
      if (longer > most) {
        newWidth *= most / longer;
        newHeight *= most / longer;
      }
      width = int64_t(newWidth + 0.5);
      height = int64_t(newHeight + 0.5);
    } else {
      // The shorter side gets its size, the longer one is truncated to an
      // integer.
      int64_t &longer = width > height ? width : height;
      int64_t &other = width > height ? height : width;
      longer = int64_t(shorter * double(longer) / double(other));
      other = int64_t(shorter);
    }
    if (int64_t multiple = settings.integer(picture::multiple); multiple > 1) {
      width = width / multiple * multiple;
      height = height / multiple * multiple;
    }
  }
}

/// Makes every pixel grey as Image.convert("L") does; grey pixels stay what they are.
static void makeGrey(Picture &picture) {
  for (size_t i = 0; i + 2 < picture.rgb.size(); i += 3) {
    uint8_t *p = &picture.rgb[i];
    p[0] = p[1] = p[2] = uint8_t((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16);
  }
}

Status pixelValues(Picture &picture, const Settings &settings, std::vector<float> &values) {
  int64_t channels = settings.integer(picture::channels);
  if (channels == 1)
    makeGrey(picture);
  int64_t width = 0, height = 0;
  targetSize(picture, settings, width, height);
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    return badInput(format("a picture of %lld x %lld pixels would become %lld "
                           "x %lld, expected 1 to %lld a side",
                           static_cast<long long>(picture.width), static_cast<long long>(picture.height),
                           static_cast<long long>(width), static_cast<long long>(height),
                           static_cast<long long>(kMaxSide)));
  if (width != picture.width || height != picture.height)
    picture = resized(picture, width, height, Resample(settings.integer(picture::resample)));
  std::vector<int64_t> crop = settings.integers(picture::crop);
  if (crop.size() == 2)
    picture = middle(picture, crop[1], crop[0]);
  auto each = [&](const Setting &setting, int c) {
    auto found = settings.values.find(setting.name);
    if (found == settings.values.end() || found->second.empty())
      return float(setting.otherwise);
    return float(found->second[std::min(size_t(c), found->second.size() - 1)]);
  };
  double rescale = settings.number(picture::rescale);
  int64_t area = picture.width * picture.height;
  values.resize(channels * area);
  for (int64_t c = 0; c < channels; ++c) {
    float mean = each(picture::mean, int(c)), deviation = each(picture::std, int(c));
    float table[256];
    for (int i = 0; i < 256; ++i)
      table[i] = (float(i * rescale) - mean) / deviation;
    for (int64_t i = 0; i < area; ++i)
      values[c * area + i] = table[picture.rgb[i * 3 + c]];
  }
  return {};
}

} // namespace heddle::rt
