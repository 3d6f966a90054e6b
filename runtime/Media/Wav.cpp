//===- Wav.cpp - RIFF WAVE to samples -------------------------------------===//
//
// A WAV file is a list of chunks; every length is checked against what is left
// of the file. A program that writes into a pipe cannot go back and write the
// length of its data chunk: it leaves 0, -1 or (sox) 0x7ffff000. So a data chunk
// that announces more than is there ends with the file, as does one of 0 or -1.
//
//===----------------------------------------------------------------------===//
#include "runtime/Media/Sound.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace heddle::rt {

static constexpr int64_t kMaxChannels = 64, kMaxRate = 768000;
/// What is slower would be made many times as long by `resampled`.
static constexpr int64_t kMinRate = 1000;
static constexpr uint64_t kMaxSeconds = 4 * 3600;

namespace {

uint32_t number(const unsigned char *at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= uint32_t(at[i]) << (8 * i);
  return value;
}

struct Layout {
  uint32_t kind = 0, channels = 0, rate = 0, bits = 0;
  size_t bytes() const { return bits / 8; }
};

float sampleAt(const unsigned char *at, const Layout &layout) {
  if (layout.kind == 3 && layout.bits == 32) {
    float value;
    memcpy(&value, at, 4);
    return value;
  }
  if (layout.kind == 3) {
    double value;
    memcpy(&value, at, 8);
    return float(value);
  }
  switch (layout.bits) {
  case 8: // unsigned, unlike the others
    return (float(at[0]) - 128) / 128;
  case 16: return float(int16_t(number(at, 2))) / 32768;
  case 24: return float(int32_t(number(at, 3) << 8) >> 8) / 8388608;
  default: return float(double(int32_t(number(at, 4))) / 2147483648.0);
  }
}

} // namespace

// Walk the chunks up to `data`, which must come behind `fmt `, then average the
// channels.
Status readWav(const unsigned char *data, size_t size, const std::string &name, Sound &sound) {
  auto bad = [&](size_t at, const std::string &why) { return badFile(quote(name) + format(", byte %zu: ", at) + why); };
  if (size < 12 || memcmp(data, "RIFF", 4) != 0 || memcmp(data + 8, "WAVE", 4) != 0)
    return bad(0, "no WAV file: it does not begin with RIFF and WAVE")
        .withHelp("ffmpeg -i FILE -ar 16000 -ac 1 out.wav makes one");
  Layout layout;
  size_t at = 12, begin = 0, end = 0;
  while (!begin && size - at >= 8) {
    uint64_t length = number(data + at + 4, 4);
    size_t body = at + 8;
    if (memcmp(data + at, "data", 4) == 0) {
      if (layout.channels == 0)
        return bad(at, "samples before the chunk `fmt ` that describes them");
      bool open = length == 0 || length == 0xffffffff;
      if (!open && length > size - body) {
        sound.announced = length;
        sound.present = size - body;
        open = true;
      }
      begin = body;
      end = open ? size : body + size_t(length);
      break;
    }
    if (length > size - body)
      return bad(at, "a chunk reaches past the end of the file");
    if (memcmp(data + at, "fmt ", 4) == 0) {
      if (length < 16)
        return bad(at, "the chunk `fmt ` is too short");
      layout = {number(data + body, 2), number(data + body + 2, 2), number(data + body + 4, 4),
                number(data + body + 14, 2)};
      // The extensible format has the real kind in its identifier.
      if (layout.kind == 0xfffe && length >= 26)
        layout.kind = number(data + body + 24, 2);
      bool pcm = layout.kind == 1 && (layout.bits == 8 || layout.bits == 16 || layout.bits == 24 || layout.bits == 32);
      bool real = layout.kind == 3 && (layout.bits == 32 || layout.bits == 64);
      if (!pcm && !real)
        return bad(body, format("samples of kind %u with %u bits, expected PCM "
                                "of 8, 16, 24 or 32 bits or floats",
                                layout.kind, layout.bits))
            .withHelp("ffmpeg -i FILE -c:a pcm_s16le out.wav converts it");
      if (layout.channels == 0 || layout.channels > kMaxChannels || layout.rate < kMinRate || layout.rate > kMaxRate)
        return bad(body, format("%u channels at %u Hz, expected 1 to %lld channels and %lld to %lld Hz",
                                layout.channels, layout.rate, static_cast<long long>(kMaxChannels),
                                static_cast<long long>(kMinRate), static_cast<long long>(kMaxRate)));
    }
    at = body + size_t(length) + size_t(length & 1);
    if (at > size)
      at = size;
  }
  if (!begin)
    return bad(at, "the file ends without samples");
  size_t frame = layout.bytes() * layout.channels, count = (end - begin) / frame;
  if (count == 0)
    return bad(begin, "no samples");
  if (count / layout.rate > kMaxSeconds)
    return bad(begin, format("more than %llu hours of sound", static_cast<unsigned long long>(kMaxSeconds / 3600)));
  sound.rate = layout.rate;
  sound.samples.resize(count);
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (uint32_t c = 0; c < layout.channels; ++c)
      sum += double(sampleAt(data + begin + i * frame + c * layout.bytes(), layout));
    sound.samples[i] = float(sum / layout.channels);
    if (!std::isfinite(sound.samples[i]))
      return bad(begin + i * frame, "a sample that is no number");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Resampling: a sinc over 32 zero crossings on either side, under Kaiser's
// window. The position of a new sample between two old ones repeats with a
// period; each position has its row of weights.

static double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k)
    sum += term *= (x / (2 * k)) * (x / (2 * k));
  return sum;
}

Sound resampled(const Sound &sound, int64_t rate) {
  if (sound.rate == rate)
    return sound;
  constexpr double kCrossings = 32, kBeta = 9, kPass = 0.945;
  int64_t common = std::gcd(sound.rate, rate), places = rate / common, step = sound.rate / common;
  double cut = std::min(1.0, double(rate) / double(sound.rate)) * kPass;
  auto reach = int64_t(std::ceil(kCrossings / cut));
  int64_t count = int64_t(sound.samples.size());
  Sound out;
  out.rate = rate;
  out.samples.resize((count * places + step - 1) / step);
  std::vector<float> weights(2 * reach + 1);
  int64_t total = int64_t(out.samples.size());
  // All new samples at one such position together, so its weights are made
  // once.
  for (int64_t place = 0; place < std::min(places, total); ++place) {
    double offset = double(place * step % places) / double(places);
    double sum = 0;
    std::vector<double> exact(weights.size());
    for (int64_t k = -reach; k <= reach; ++k) {
      double x = (double(k) - offset) * cut, w = x / kCrossings;
      double value = 0;
      if (std::fabs(w) < 1)
        value = (x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x)) * bessel(kBeta * std::sqrt(1 - w * w));
      sum += exact[k + reach] = value;
    }
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = float(exact[i] / sum);
    for (int64_t n = place; n < total; n += places) {
      int64_t centre = n * step / places;
      double value = 0;
      int64_t first = std::max(-reach, -centre), last = std::min(reach, count - 1 - centre);
      for (int64_t k = first; k <= last; ++k)
        value += double(weights[k + reach]) * sound.samples[centre + k];
      out.samples[n] = float(value);
    }
  }
  return out;
}

} // namespace heddle::rt
