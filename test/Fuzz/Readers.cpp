//===- Readers.cpp - Pictures, sounds and tokenizers that a stranger wrote ===//
//
//   heddle_fuzz_readers --examples=DIR [--runs=N] [--seed=N]
//
// Good files are changed (bytes, stretches moved or repeated, PNG with checksums
// made right again) and read as a compiled model reads them. A crash or a
// report of a sanitizer is the finding; what was read and refused is counted,
// so that a run in which nothing gets through is seen. Links nothing of LLVM: a
// build with HEDDLE_SANITIZE takes a minute.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "runtime/Media/Picture.h"
#include "runtime/Media/PictureFile.h"
#include "runtime/Media/Sound.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

using namespace heddle;
using namespace heddle::rt;
using Bytes = std::string;
using Random = std::mt19937_64;

namespace {

/// A number below `n`.
size_t below(Random &random, size_t n) { return n ? random() % n : 0; }

Bytes contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.empty()) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(5);
  }
  return bytes;
}

/// One to eight changes; `head` bytes at the beginning are hit as often as all
/// the rest.
Bytes changed(const Bytes &good, Random &random, size_t head) {
  Bytes bad = good;
  for (size_t changes = 1 + below(random, random() % 4 ? 1 : 8); changes && !bad.empty(); --changes) {
    size_t range = random() % 2 ? bad.size() : std::min(head, bad.size());
    size_t at = below(random, range), from = below(random, bad.size());
    size_t size = below(random, std::min<size_t>(64, bad.size() - from)) + 1;
    switch (random() % 8) {
    case 0: bad.erase(at, size); break;
    case 1: bad.insert(at, bad.substr(from, size)); break;
    case 2: bad.replace(at, size, bad.substr(from, size)); break;
    case 3: bad.resize(std::max<size_t>(at, 1)); break;
    case 4:
      // Lengths and counts at the ends of their ranges.
      for (size_t i = at; i < std::min(at + 4, bad.size()); ++i)
        bad[i] = char(random() % 3 ? 0xff : 0x7f);
      break;
    case 5: bad[at] = char(bad[at] ^ (1 << random() % 8)); break;
    default: bad[at] = char(random());
    }
  }
  return bad;
}

/// Every chunk's checksum, as long as the chunks can be followed.
void repairPng(Bytes &png) {
  auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(png[at + i]);
    return value;
  };
  for (size_t at = 8; at + 12 <= png.size();) {
    size_t length = number(at);
    if (length > png.size() - at - 12)
      return;
    uint32_t sum = 0xffffffff;
    for (size_t i = at + 4; i < at + 8 + length; ++i) {
      sum ^= static_cast<unsigned char>(png[i]);
      for (int bit = 0; bit < 8; ++bit)
        sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    sum = ~sum;
    for (size_t i = 0; i < 4; ++i)
      png[at + 8 + length + i] = char(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

/// Noise in `channels`, as PCM (1) or floats (3) of `bits`.
Bytes wav(int kind, int bits, int channels, int rate, size_t bytes, Random &random) {
  Bytes out;
  auto put = [&](uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      out += char(value >> (8 * i));
  };
  out += "RIFF";
  put(36 + bytes, 4);
  out += "WAVEfmt ";
  put(16, 4);
  put(uint64_t(kind), 2);
  put(uint64_t(channels), 2);
  put(uint64_t(rate), 4);
  put(uint64_t(rate) * uint64_t(channels * bits / 8), 4);
  put(uint64_t(channels * bits / 8), 2);
  put(uint64_t(bits), 2);
  out += "data";
  put(bytes, 4);
  for (size_t i = 0; i < bytes; ++i)
    out += char(random());
  return out;
}

//===----------------------------------------------------------------------===//

bool tryPicture(const Bytes &bytes, Random &random) {
  heddle_pixels pixels;
  if (heddle_decode_picture(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), 1 << 20, &pixels))
    return false;
  Picture picture;
  picture.width = pixels.width;
  picture.height = pixels.height;
  picture.rgb.assign(pixels.rgb, pixels.rgb + 3 * picture.width * picture.height);
  free(pixels.rgb);
  Settings settings;
  auto side = [&] { return double(1 + below(random, 70)); };
  settings.values["resample"] = {double(random() % 6)};
  if (random() % 2)
    settings.values["size"] = {side(), side()};
  else
    settings.values["shortest"] = {side()};
  if (random() % 2)
    settings.values["longest"] = {side() + 70};
  if (random() % 3 == 0)
    settings.values["multiple"] = {double(1 + below(random, 8))};
  if (random() % 2)
    settings.values["crop"] = {side(), side()};
  settings.values["mean"] = {0.5, 0.4, 0.3};
  settings.values["std"] = {0.5};
  std::vector<float> values;
  return pixelValues(picture, settings, values).ok();
}

bool trySound(const Bytes &bytes, Random &random) {
  Sound sound;
  if (!readWav(reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), "x.wav", sound).ok())
    return false;
  // Rates without a common factor cost a row of weights for every sample.
  if (sound.rate > 100000)
    sound.rate = 16000;
  Settings settings;
  switch (random() % 3) {
  case 0: settings.values = {{"raw", {1}}, {"normalize", {double(random() % 2)}}}; break;
  case 1:
    settings.values = {{"fbank", {1}}, {"bins", {double(1 + below(random, 90))}}};
    if (size_t kind = random() % 3; kind == 0)
      settings.values["stride"] = {double(1 + below(random, 4))};
    else if (kind == 1)
      settings.values["means"] = {double(random() % 2)}, settings.values["deviations"] = {double(random() % 2)};
    else
      settings.values["hann"] = {1}, settings.values["frames"] = {double(1 + below(random, 200))};
    break;
  default:
    settings.values = {{"bins", {double(1 + below(random, 90))}},
                       {"n_fft", {double(16 + below(random, 500))}},
                       {"hop", {double(1 + below(random, 300))}},
                       {"samples", {double(600 + below(random, 9000))}}};
  }
  settings.values["rate"] = {16000};
  Features features;
  return soundFeatures(sound, settings, features).ok();
}

bool useTokenizer(const Bytes &blob, Random &random) {
  // Words are read in place, so the blob is at a word.
  std::vector<uint32_t> words((blob.size() + 3) / 4);
  if (!blob.empty())
    memcpy(words.data(), blob.data(), blob.size());
  Tokenizer tokenizer;
  if (!tokenizer.open(reinterpret_cast<const unsigned char *>(words.data()), blob.size()).ok())
    return false;
  std::string noise;
  for (int i = 0; i < 40; ++i)
    noise += char(random());
  std::string_view pair = "and [MASK] a second\n text";
  bool good = true;
  for (const std::string &text : {std::string("One day, there was a LOUD cra\xcc\x81"
                                              "ck! 2023 "),
                                  std::string(200, 'a'), noise, std::string()}) {
    Encoded encoded;
    good &= tokenizer.encode(text, random() % 2 ? &pair : nullptr, true, encoded).ok();
    for (const Token &token : encoded.tokens)
      good &= tokenizer.textOf(encoded, token).size() < blob.size() + 4096;
  }
  std::vector<int64_t> ids = {-1, INT64_MAX};
  for (int i = 0; i < 30; ++i)
    ids.push_back(int64_t(below(random, tokenizer.size() + 5)));
  good &= tokenizer.decode(ids, random() % 2).size() < (size_t(1) << 30);
  return good;
}

bool tryTokenizer(const Bytes &json, Random &random) {
  std::string blob, error;
  if (!tokenizerBlobFromText(json, "tokenizer.json", blob, error)) {
    if (error.find("tokenizer.json") == error.npos) {
      fprintf(stderr, "a refusal without a place: %s\n", error.c_str());
      abort();
    }
    return false;
  }
  return useTokenizer(blob, random);
}

/// The parts of a tokenizer that are small: a long vocabulary would hide them
/// from the changes.
Bytes smallTokenizer(const char *model, const char *rest) { return Bytes("{\"model\":") + model + "," + rest + "}"; }

} // namespace

int main(int argc, char **argv) {
  std::string examples;
  uint64_t runs = 4000, seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--examples=", 11) == 0)
      examples = argv[i] + 11;
    else if (strncmp(argv[i], "--runs=", 7) == 0)
      runs = strtoull(argv[i] + 7, nullptr, 10);
    else if (strncmp(argv[i], "--seed=", 7) == 0)
      seed = strtoull(argv[i] + 7, nullptr, 10);
    else
      return 2;
  }
  Random random(seed);
  std::vector<Bytes> pngs, wavs, tokenizers, blobs;
  for (const char *name : {"ring_64x64", "star_80x60", "circle_32x32"})
    pngs.push_back(contents(examples + "/shapes/" + name + ".png"));
  const unsigned char red[] = {
#include "test/Runtime/red.jpg.inc"
  };
  Bytes jpeg(reinterpret_cast<const char *>(red), sizeof red);
  for (auto [kind, bits] : {std::pair(1, 8), {1, 16}, {1, 24}, {1, 32}, {3, 32}})
    wavs.push_back(wav(kind, bits, 1 + bits % 3, 16000, 4800, random));
  tokenizers = {
      smallTokenizer(
          R"({"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{"<unk>":0,"<0x0A>":1,"a":2,"aa":3,"aaaa":4,"b":5},"merges":[["a","a"],["aa","aa"]]})",
          R"("added_tokens":[{"id":6,"content":"[MASK]","lstrip":true,"normalized":true,"special":true}],"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Replace","pattern":{"Regex":" +"},"content":" "},{"type":"Prepend","prepend":"_"}]},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|[^\\s]+|\\p{L}{1,3}"},"behavior":"MergedWithPrevious","invert":false},"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})"),
      smallTokenizer(
          R"({"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"##a":4,"one":5,"day":6}})",
          R"("normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[1],"tokens":["[CLS]"]}}},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},"truncation":{"max_length":20,"strategy":"LongestFirst","stride":0,"direction":"Right"},"padding":{"strategy":{"Fixed":24},"direction":"Left","pad_to_multiple_of":8,"pad_id":0,"pad_type_id":0,"pad_token":"[PAD]"})"),
      smallTokenizer(
          R"({"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":[["<unk>",0.0],["a",-2.5],["aa",-3.5],["\u2581one",-4.0],["d",-5.0],["day",-6.25]]})",
          R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always","split":true}]},"decoder":{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always","split":true})"),
      contents(examples + "/dates/tokenizer.json"),
  };
  for (const Bytes &json : tokenizers) {
    std::string error;
    if (!tokenizerBlobFromText(json, "good", blobs.emplace_back(), error) || !useTokenizer(blobs.back(), random)) {
      fprintf(stderr, "a good tokenizer is refused: %s\n", error.c_str());
      return 70;
    }
  }
  std::map<std::string, std::pair<uint64_t, uint64_t>> counts;
  for (uint64_t run = 0; run < runs; ++run) {
    auto pick = [&](const std::vector<Bytes> &all) -> const Bytes & { return all[below(random, all.size())]; };
    auto count = [&](const char *what, bool used) { (used ? counts[what].first : counts[what].second) += 1; };
    switch (run % 5) {
    case 0: {
      Bytes png = changed(pick(pngs), random, 64);
      if (random() % 4)
        repairPng(png);
      count("PNG", tryPicture(png, random));
      break;
    }
    case 1: count("JPEG", tryPicture(changed(jpeg, random, 700), random)); break;
    case 2: count("WAV", trySound(changed(pick(wavs), random, 48), random)); break;
    case 3: count("tokenizer.json", tryTokenizer(changed(pick(tokenizers), random, 2000), random)); break;
    default: count("compiled tokenizer", useTokenizer(changed(pick(blobs), random, 400), random));
    }
  }
  for (const auto &[what, count] : counts)
    printf("%s: %llu used, %llu refused\n", what.c_str(), static_cast<unsigned long long>(count.first),
           static_cast<unsigned long long>(count.second));
  printf("%llu files, seed %llu, no findings\n", static_cast<unsigned long long>(runs),
         static_cast<unsigned long long>(seed));
  return 0;
}
