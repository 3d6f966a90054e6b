//===- MediaTest.cpp - Pictures and sound ---------------------------------===//
//
// Pixels against what Pillow and the library make of the same files
// (expected.json of examples/shapes), sounds against sines whose features are
// known, and damaged files of every kind: refused, never read past their end.
//
//===----------------------------------------------------------------------===//
#include "runtime/Media/Orientation.h"
#include "runtime/Media/Picture.h"
#include "runtime/Media/PictureFile.h"
#include "runtime/Media/Sound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

using namespace heddle::rt;
using Bytes = std::vector<uint8_t>;
using Json = nlohmann::json;

namespace {

const std::string kShapes = HEDDLE_EXAMPLES_DIR "/shapes/";

Bytes contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

bool decode(const Bytes &bytes, Picture &picture, std::string *why = nullptr, uint64_t most = 1 << 24) {
  heddle_pixels pixels;
  int failed = heddle_decode_picture(bytes.data(), bytes.size(), most, &pixels);
  if (failed) {
    EXPECT_EQ(pixels.rgb, nullptr);
    EXPECT_NE(std::string(pixels.error), "");
    if (why)
      *why = pixels.error;
    return false;
  }
  picture.width = pixels.width;
  picture.height = pixels.height;
  picture.rgb.assign(pixels.rgb, pixels.rgb + 3 * picture.width * picture.height);
  free(pixels.rgb);
  return true;
}

TEST(Pictures, AsTheLibraryMakesThem) {
  Json expected = Json::parse(std::ifstream(kShapes + "expected.json"));
  Settings settings;
  settings.values = {{"size", {32, 32}}, {"resample", {2}}, {"rescale", {1 / 255.0}}, {"mean", {0.5}}, {"std", {0.5}}};
  for (const Json &one : expected["cases"]) {
    Picture picture;
    ASSERT_TRUE(decode(contents(kShapes + one["image"].get<std::string>()), picture));
    EXPECT_EQ(picture.height, one["height"]);
    EXPECT_EQ(picture.width, one["width"]);
    std::vector<float> values;
    ASSERT_TRUE(pixelValues(picture, settings, values).ok());
    ASSERT_EQ(values.size(), 3u * 32 * 32);
    const Json &check = one["pixel_values_check"];
    for (size_t i = 0; i < check["values"].size(); ++i) {
      const Json &at = check["at_channel_row_col"][i];
      EXPECT_NEAR(values[(at[0].get<int>() * 32 + at[1].get<int>()) * 32 + at[2].get<int>()], check["values"][i], 2e-7)
          << one["image"] << at;
    }
    double sum = 0;
    for (float value : values)
      sum += value;
    EXPECT_NEAR(sum / double(values.size()), check["mean"], 2e-6);
  }
}

TEST(Pictures, ResizeByHand) {
  // Two pixels to four: Pillow's bilinear gives quarters.
  Picture two{2, 1, {0, 0, 0, 200, 100, 40}};
  Picture four = resized(two, 4, 1, Resample::Bilinear);
  EXPECT_EQ(four.rgb, (Bytes{0, 0, 0, 50, 25, 10, 150, 75, 30, 200, 100, 40}));
  // Four to two: each the mean of its neighbourhood, ends weighted 3:3:1.
  Picture row{4, 1, {0, 0, 0, 70, 70, 70, 140, 140, 140, 210, 210, 210}};
  EXPECT_EQ(resized(row, 2, 1, Resample::Bilinear).rgb, (Bytes{50, 50, 50, 160, 160, 160}));
  EXPECT_EQ(resized(row, 2, 1, Resample::Box).rgb, (Bytes{35, 35, 35, 175, 175, 175}));
  for (Resample filter : {Resample::Nearest, Resample::Lanczos, Resample::Bicubic, Resample::Hamming}) {
    Picture flat{5, 7, Bytes(105, 99)};
    EXPECT_EQ(resized(flat, 3, 11, filter).rgb, Bytes(99, 99));
  }
}

TEST(Pictures, SizesAndMiddle) {
  auto shape = [](std::map<std::string, std::vector<double>, std::less<>> said, int64_t width, int64_t height) {
    Settings settings;
    settings.values = std::move(said);
    Picture picture{width, height, Bytes(width * height * 3, 1)};
    std::vector<float> values;
    EXPECT_TRUE(pixelValues(picture, settings, values).ok());
    return std::make_pair(picture.width, picture.height);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(shape({{"shortest", {20}}}, 37, 25), Pair(29, 20));
  EXPECT_EQ(shape({{"shortest", {20}}, {"crop", {18, 16}}}, 37, 25), Pair(16, 18));
  EXPECT_EQ(shape({{"shortest", {64}}, {"longest", {100}}, {"multiple", {32}}}, 90, 60), Pair(96, 64));
  EXPECT_EQ(shape({{"shortest", {64}}, {"longest", {100}}, {"multiple", {32}}}, 200, 100), Pair(96, 32));
  Picture small{2, 2, Bytes(12, 7)};
  Picture wide = middle(small, 4, 2);
  EXPECT_EQ(wide.rgb, (Bytes{0, 0, 0, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 0, 0, 0}));
}

/// Deterministic noise.
struct Noise {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
};

/// Every cut of a file and many changed copies of it.
template <typename Try> void spoil(const Bytes &good, int copies, Try &&tryIt) {
  for (size_t n = 0; n < good.size(); n += 1 + good.size() / 97)
    tryIt(Bytes(good.begin(), good.begin() + n));
  Noise noise{88172645463325252ull};
  for (int i = 0; i < copies; ++i) {
    Bytes bad = good;
    for (uint64_t changes = 1 + noise.next() % 8; changes; --changes)
      // Headers are hit as often as all the rest.
      bad[noise.next() % (noise.next() % 2 ? bad.size() : std::min<size_t>(64, bad.size()))] = uint8_t(noise.next());
    tryIt(bad);
  }
}

TEST(Pictures, DamagedFilesAreRefused) {
  Bytes good = contents(kShapes + "ring_64x64.png");
  int refused = 0;
  spoil(good, 300, [&](const Bytes &bad) {
    Picture picture;
    refused += !decode(bad, picture, nullptr, 1 << 20);
  });
  EXPECT_GT(refused, 300);
}

// 16 x 16 red pixels.
const Bytes kJpeg = {
#include "test/Runtime/red.jpg.inc"
};

TEST(Pictures, Jpeg) {
  Picture picture;
  ASSERT_TRUE(decode(kJpeg, picture));
  EXPECT_EQ(picture.width, 16);
  EXPECT_EQ(picture.height, 16);
  for (size_t i = 0; i < picture.rgb.size(); i += 3) {
    EXPECT_NEAR(picture.rgb[i], 254, 1);
    EXPECT_NEAR(picture.rgb[i + 1], 0, 1);
    EXPECT_NEAR(picture.rgb[i + 2], 0, 1);
  }
  std::string why;
  EXPECT_FALSE(decode(Bytes(kJpeg.begin(), kJpeg.end() - 40), picture, &why));
  EXPECT_NE(why.find("damaged JPEG"), std::string::npos) << why;
  EXPECT_FALSE(decode(kJpeg, picture, &why, 100));
  EXPECT_NE(why.find("16 x 16 pixels"), std::string::npos) << why;
  spoil(kJpeg, 300, [&](const Bytes &bad) { decode(bad, picture, nullptr, 1 << 20); });
}

/// A TIFF block with one other tag and then the orientation, in either order of bytes.
Bytes exif(bool big, int type, uint32_t orientation) {
  Bytes out = big ? Bytes{'M', 'M', 0, 42} : Bytes{'I', 'I', 42, 0};
  auto number = [&](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      out.push_back(uint8_t(value >> 8 * (big ? bytes - 1 - i : i)));
  };
  number(8, 4); // the directory
  number(2, 2);
  for (auto [tag, value] : {std::pair(0x0110u, 7u), std::pair(0x0112u, orientation)}) {
    number(tag, 2);
    number(uint32_t(type), 2);
    number(1, 4);
    number(value, type == 3 ? 2 : 4);
    number(0, type == 3 ? 2 : 0);
  }
  return out;
}

int orientationOf(const Bytes &block) { return heddle_exif_orientation(block.data(), block.size()); }

TEST(Pictures, OrientationIsFoundInExif) {
  for (bool big : {false, true})
    for (int type : {3, 4})
      for (uint32_t n : {1u, 3u, 6u, 8u}) {
        Bytes block = exif(big, type, n);
        EXPECT_EQ(orientationOf(block), int(n));
        Bytes marked = {'E', 'x', 'i', 'f', 0, 0};
        marked.insert(marked.end(), block.begin(), block.end());
        EXPECT_EQ(orientationOf(marked), int(n));
        // Every cut of it is read without leaving it (ASan sees that), and says nothing.
        for (size_t size = 0; size + 4 < block.size(); ++size)
          EXPECT_EQ(orientationOf(Bytes(block.begin(), block.begin() + size)), 0);
      }
  EXPECT_EQ(orientationOf(exif(false, 3, 9)), 0);
  EXPECT_EQ(orientationOf(exif(false, 2, 6)), 0) << "a text";
  Bytes far = exif(false, 3, 6);
  memset(&far[4], 0xff, 4);
  EXPECT_EQ(orientationOf(far), 0) << "a directory outside of the block";
  auto xmp = [](std::string text) {
    return heddle_xmp_orientation(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  };
  EXPECT_EQ(xmp("<rdf:Description tiff:Orientation=\"6\"/>"), 6);
  EXPECT_EQ(xmp("<tiff:Orientation>3</tiff:Orientation>"), 3);
  EXPECT_EQ(xmp("tiff:Orientation=\"9\""), 0);
  EXPECT_EQ(xmp("tiff:Orientation"), 0);
}

// The letter of row y and column x of two rows of three, after each turn.
TEST(Pictures, TurnedUpright) {
  const std::pair<int, const char *> turns[] = {{1, "abc/def"},  {2, "cba/fed"},  {3, "fed/cba"},  {4, "def/abc"},
                                                {5, "ad/be/cf"}, {6, "da/eb/fc"}, {7, "fc/eb/da"}, {8, "cf/be/ad"}};
  for (auto [orientation, want] : turns) {
    auto *rgb = static_cast<uint8_t *>(malloc(18));
    for (int i = 0; i < 18; ++i)
      rgb[i] = uint8_t('a' + i / 3);
    uint32_t width = 3, height = 2;
    ASSERT_EQ(heddle_turn_upright(orientation, &rgb, &width, &height), 0);
    std::string got;
    for (uint32_t y = 0; y < height; ++y) {
      got += y ? "/" : "";
      for (uint32_t x = 0; x < width; ++x)
        got += char(rgb[(y * width + x) * 3 + 2]);
    }
    EXPECT_EQ(got, want) << orientation;
    free(rgb);
  }
}

TEST(Pictures, JpegWithExifIsTurned) {
  Bytes block = exif(true, 3, 6), turned(kJpeg.begin(), kJpeg.begin() + 2);
  size_t length = 2 + 6 + block.size();
  for (int c : {0xff, 0xe1, int(length >> 8), int(length & 255), 'E' + 0, 'x' + 0, 'i' + 0, 'f' + 0, 0, 0})
    turned.push_back(uint8_t(c));
  turned.insert(turned.end(), block.begin(), block.end());
  turned.insert(turned.end(), kJpeg.begin() + 2, kJpeg.end());
  Picture picture;
  ASSERT_TRUE(decode(turned, picture));
  EXPECT_EQ(picture.width, 16);
  spoil(turned, 300, [&](const Bytes &bad) { decode(bad, picture, nullptr, 1 << 20); });
}

TEST(Pictures, OneChannelIsGrey) {
  Picture picture;
  picture.width = picture.height = 2;
  picture.rgb = {10, 10, 10, 255, 0, 0, 0, 255, 0, 0, 0, 255};
  Settings settings;
  settings.values = {{"channels", {1}}, {"mean", {0}}, {"std", {1}}};
  std::vector<float> values;
  ASSERT_TRUE(pixelValues(picture, settings, values).ok());
  EXPECT_EQ(values, (std::vector<float>{10, 76, 150, 29})); // as Pillow's convert("L") has them
}

TEST(Pictures, OtherFiles) {
  Picture picture;
  std::string why;
  EXPECT_FALSE(decode({}, picture, &why));
  EXPECT_FALSE(decode({'G', 'I', 'F', '8', '9', 'a', 0, 0, 0}, picture, &why));
  EXPECT_EQ(why, "neither PNG nor JPEG");
}

//===----------------------------------------------------------------------===//

void put(Bytes &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out.push_back(uint8_t(value >> (8 * i)));
}

/// A sine of `hertz` in every channel but the last, which is silent.
Bytes wav(int kind, int bits, int channels, int rate, int count, double hertz) {
  Bytes data;
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < channels; ++c) {
      double x = c == channels - 1 && c > 0 ? 0 : 0.5 * std::sin(2 * M_PI * hertz * i / rate);
      if (kind == 3 && bits == 32) {
        float f = float(x);
        uint32_t word;
        memcpy(&word, &f, 4);
        put(data, word, 4);
      } else if (kind == 3) {
        uint64_t word;
        memcpy(&word, &x, 8);
        put(data, word, 8);
      } else if (bits == 8) {
        put(data, uint64_t(std::lround(x * 127) + 128), 1);
      } else {
        put(data, uint64_t(int64_t(x * std::pow(2, bits - 1))), bits / 8);
      }
    }
  Bytes out = {'R', 'I', 'F', 'F'};
  put(out, 36 + data.size(), 4);
  for (char c : std::string("WAVEfmt "))
    out.push_back(uint8_t(c));
  put(out, 16, 4);
  put(out, uint64_t(kind), 2);
  put(out, uint64_t(channels), 2);
  put(out, uint64_t(rate), 4);
  put(out, uint64_t(rate) * channels * bits / 8, 4);
  put(out, uint64_t(channels) * bits / 8, 2);
  put(out, uint64_t(bits), 2);
  for (char c : std::string("data"))
    out.push_back(uint8_t(c));
  put(out, data.size(), 4);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Sound heard(const Bytes &bytes) {
  Sound sound;
  Status status = readWav(bytes.data(), bytes.size(), "x.wav", sound);
  EXPECT_TRUE(status.ok()) << status.message();
  return sound;
}

TEST(Sounds, EveryKindOfSample) {
  for (auto [kind, bits] : {std::pair(1, 8), {1, 16}, {1, 24}, {1, 32}, {3, 32}, {3, 64}})
    for (int channels : {1, 2}) {
      Sound sound = heard(wav(kind, bits, channels, 16000, 500, 440));
      ASSERT_EQ(sound.samples.size(), 500u);
      for (int i = 0; i < 500; ++i)
        EXPECT_NEAR(sound.samples[i], 0.5 / channels * std::sin(2 * M_PI * 440 * i / 16000.0), bits == 8 ? 1e-2 : 1e-4)
            << kind << " " << bits;
    }
}

TEST(Sounds, AnyRate) {
  for (int rate : {8000, 11025, 16000, 22050, 44100, 48000, 96000}) {
    Sound sound = resampled(heard(wav(1, 16, 1, rate, rate, 1000)), 16000);
    EXPECT_EQ(sound.rate, 16000);
    ASSERT_NEAR(double(sound.samples.size()), 16000, 1);
    double worst = 0;
    for (int i = 200; i < 15800; ++i)
      worst = std::max(worst, std::fabs(sound.samples[i] - 0.5 * std::sin(2 * M_PI * i / 16.0)));
    EXPECT_LT(worst, 2e-3) << rate;
  }
  // What the new rate cannot hold must go: 11 kHz would come back as 5 kHz.
  Sound high = resampled(heard(wav(1, 16, 1, 48000, 48000, 11000)), 16000);
  for (int i = 200; i < 15800; ++i)
    ASSERT_LT(std::fabs(high.samples[i]), 1e-3);
}

TEST(Sounds, LogMelOfASine) {
  Settings settings;
  settings.values = {{"rate", {16000}}, {"bins", {80}}, {"n_fft", {400}}, {"hop", {160}}, {"samples", {480000}}};
  Features features;
  Sound sound = heard(wav(1, 16, 1, 16000, 16000 * 31, 1000));
  ASSERT_TRUE(soundFeatures(sound, settings, features).ok());
  ASSERT_EQ(features.shape, (std::vector<int64_t>{80, 3000}));
  EXPECT_EQ(features.cut, 16000);
  // 1000 Hz is 15 of Slaney's mels; 8000 Hz is 45.245, in 81 steps.
  int64_t loudest = 0;
  for (int64_t f = 1; f < 80; ++f)
    if (features.values[f * 3000 + 1500] > features.values[loudest * 3000 + 1500])
      loudest = f;
  EXPECT_NEAR(double(loudest), 15 / (45.245 / 81) - 1, 1);
  // Nothing is more than 8 decades below the loudest, (x + 4) / 4.
  auto [least, most] = std::minmax_element(features.values.begin(), features.values.end());
  EXPECT_NEAR(*most - *least, 2, 1e-6);
}

/// Frames of a second of 1237 Hz, whose frames differ, with `more` of the settings.
static Features banksOfASine(const std::map<std::string, std::vector<double>> &more, size_t bins = 80) {
  Settings settings;
  settings.values = {{"rate", {16000}}, {"fbank", {1}}, {"bins", {double(bins)}}};
  settings.values.insert(more.begin(), more.end());
  Features features;
  EXPECT_TRUE(soundFeatures(heard(wav(1, 16, 1, 16000, 16000, 1237)), settings, features).ok());
  return features;
}

TEST(Sounds, FilterBanksAreNormalisedAsAsked) {
  Features plain = banksOfASine({{"means", {0}}, {"deviations", {0}}});
  ASSERT_EQ(plain.shape, (std::vector<int64_t>{98, 80}));
  Features centred = banksOfASine({{"means", {1}}, {"deviations", {0}}});
  Features whole = banksOfASine({{"means", {1}}, {"deviations", {1}}}), other = banksOfASine({{"stride", {1}}});
  for (int64_t f = 0; f < 80; ++f) {
    double mean = 0, square = 0, ofWhole = 0, ofOther = 0;
    for (int64_t t = 0; t < 98; ++t)
      mean += plain.values[t * 80 + f] / 98;
    for (int64_t t = 0; t < 98; ++t) {
      int64_t at = t * 80 + f;
      square += std::pow(plain.values[at] - mean, 2);
      ofWhole += std::pow(whole.values[at], 2);
      ofOther += std::pow(other.values[at], 2);
      ASSERT_NEAR(centred.values[at], plain.values[at] - mean, 1e-4);
    }
    // Speech2Text divides by the deviation of the frames, wav2vec2-bert by that of a sample and a little more.
    ASSERT_NEAR(ofWhole, 98, 1e-2);
    ASSERT_NEAR(ofOther / 97, square / (square + 97e-7), 1e-3);
  }
}

TEST(Sounds, SpectrogramsHaveSoManyRows) {
  Features loose = banksOfASine({{"hann", {1}}, {"frames", {98}}, {"mean", {0}}, {"std", {1}}}, 128);
  Features filled = banksOfASine({{"hann", {1}}, {"frames", {100}}, {"mean", {-4}}, {"std", {9}}}, 128);
  Features cut = banksOfASine({{"hann", {1}}, {"frames", {90}}, {"mean", {-4}}, {"std", {9}}}, 128);
  ASSERT_EQ(filled.shape, (std::vector<int64_t>{100, 128}));
  ASSERT_EQ(cut.shape, (std::vector<int64_t>{90, 128}));
  EXPECT_EQ(filled.cut, 0);
  EXPECT_EQ(cut.cut, 8 * 160);
  EXPECT_EQ(cut.heard, 90 * 160);
  for (int64_t i = 0; i < 100 * 128; ++i) {
    double right = i < 98 * 128 ? (loose.values[i] + 4.0) / 9 : 4.0 / 9;
    ASSERT_NEAR(filled.values[i], right, 1e-5);
    if (i < 90 * 128) {
      ASSERT_EQ(filled.values[i], cut.values[i]);
    }
  }
  // Samples up to 1 give less than samples up to 2^15, by their square, but for the window.
  Features loud = banksOfASine({{"means", {0}}, {"deviations", {0}}}, 128);
  size_t loudest = std::max_element(loud.values.begin(), loud.values.begin() + 128) - loud.values.begin();
  EXPECT_NEAR(loud.values[loudest] - loose.values[loudest], 30 * std::log(2.0), 0.5);
}

TEST(Sounds, RawIsNormalised) {
  Settings settings;
  settings.values = {{"rate", {16000}}, {"raw", {1}}, {"normalize", {1}}};
  Features features;
  ASSERT_TRUE(soundFeatures(heard(wav(1, 16, 1, 16000, 16000, 440)), settings, features).ok());
  double mean = 0, square = 0;
  for (float value : features.values) {
    mean += value / 16000;
    square += double(value) * value / 16000;
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-4);
}

TEST(Sounds, DamagedFilesAreRefused) {
  Bytes good = wav(1, 16, 2, 16000, 300, 440);
  auto refusal = [](Bytes bytes) {
    Sound sound;
    Status status = readWav(bytes.data(), bytes.size(), "x.wav", sound);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  EXPECT_NE(refusal({}).find("no WAV file"), std::string::npos);
  Bytes odd = good;
  odd[20] = 17; // ADPCM
  EXPECT_NE(refusal(odd).find("kind 17"), std::string::npos);
  odd = good;
  odd[22] = 0;
  EXPECT_NE(refusal(odd).find("0 channels"), std::string::npos);
  // 16 kB that resampling would make 128 million samples of.
  for (int rate : {1, 999})
    EXPECT_NE(refusal(wav(1, 16, 1, rate, 8000, 0)).find("expected 1 to 64 channels and 1000 to 768000 Hz"),
              std::string::npos);
  EXPECT_EQ(resampled(heard(wav(1, 16, 1, 1000, 8000, 100)), 16000).samples.size(), 128000u);
  // A length of -1 reaches to the end, as streams have it.
  Bytes stream = good;
  memset(&stream[40], 0xff, 4);
  EXPECT_EQ(heard(stream).samples.size(), 300u);
  EXPECT_EQ(heard(stream).announced, 0u);
  // So does one that announces more than is there: a copy cut short, or what sox writes into a pipe.
  Sound cut = heard(Bytes(good.begin(), good.end() - 10));
  EXPECT_EQ(cut.samples.size(), 297u);
  EXPECT_EQ(cut.announced, 1200u);
  EXPECT_EQ(cut.present, 1190u);
  const unsigned char sox[] = {0x00, 0xf0, 0xff, 0x7f};
  memcpy(&stream[40], sox, 4);
  EXPECT_EQ(heard(stream).samples.size(), 300u);
  spoil(good, 500, [](const Bytes &bad) {
    Sound sound;
    Features features;
    Settings settings;
    settings.values = {{"rate", {16000}}, {"raw", {1}}};
    if (readWav(bad.data(), bad.size(), "x.wav", sound).ok())
      EXPECT_FALSE(sound.samples.empty());
  });
}

} // namespace
