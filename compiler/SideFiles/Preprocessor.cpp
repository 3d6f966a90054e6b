//===- Preprocessor.cpp - how a file becomes an input ---------------------===//
//
// preprocessor_config.json: the defaults of each image processor and feature extractor class of Hugging Face's library,
// overridden by the file, become settings of the card: size, crop, resample, rescale, mean, std for `picture`; rate,
// kind of features, bins for `sound`. The runtime (runtime/Media) follows the settings and does not know the classes.
//
//===----------------------------------------------------------------------===//

#include "compiler/SideFiles/SideFiles.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;
using Kind = JsonValue::Kind;

static ArrayAttr listOf(Builder &b, llvm::ArrayRef<int64_t> values) {
  SmallVector<Attribute> list;
  for (int64_t n : values)
    list.push_back(b.getI64IntegerAttr(n));
  return b.getArrayAttr(list);
}

static ArrayAttr listOf(Builder &b, llvm::ArrayRef<double> values) {
  SmallVector<Attribute> list;
  for (double x : values)
    list.push_back(b.getF64FloatAttr(x));
  return b.getArrayAttr(list);
}

//===--- pictures -------------------------------------------------------------===//

namespace {
/// What an image processor does where its file is silent.
struct PictureClass {
  StringRef name;
  int64_t size;
  bool square; ///< a size that is one number is both sides, not the shorter one
  int64_t resample, crop;
  std::vector<double> mean, deviation;
  int64_t multiple = 0;
};
} // namespace

static const std::vector<double> half = {0.5, 0.5, 0.5}, clipMean = {0.48145466, 0.4578275, 0.40821073},
                                 clipDeviation = {0.26862954, 0.26130258, 0.27577711};

static const PictureClass pictureClasses[] = {
    {"ViT", 224, true, 2, 0, half, half},
    {"DeiT", 256, true, 3, 224, half, half},
    {"CLIP", 224, false, 3, 224, clipMean, clipDeviation},
    {"Blip", 384, true, 3, 0, clipMean, clipDeviation},
    {"Vilt", 384, false, 3, 0, half, half, 32},
    {"Bit", 224, false, 3, 224, clipMean, clipDeviation}, // DINOv2's, too
    {"Siglip", 224, true, 3, 0, half, half},
    {"Beit", 256, true, 3, 224, half, half},
};

static bool isSide(const JsonValue *n) {
  return n && n->kind == Kind::Integer && n->integer > 0 && n->integer <= 16384;
}

/// The member of a size; null is as if it were not there.
static const JsonValue *memberOf(const JsonValue &size, StringRef key) {
  const JsonValue *v = size.isObject() ? size.find(key) : nullptr;
  return v && !v->isNull() ? v : nullptr;
}

static size_t countOf(const JsonValue &size) {
  return llvm::count_if(size.members, [](const JsonMember &m) { return !m.value.isNull(); });
}

/// {"height", "width"}, [height, width], or one number: both sides.
static std::optional<std::vector<int64_t>> sidesOf(SideFileReader &file, StringRef key) {
  const JsonValue *v = file.take(key);
  if (!v)
    return std::nullopt;
  if (isSide(v))
    return std::vector<int64_t>{v->integer, v->integer};
  if (v->isArray() && v->items.size() == 2 && isSide(&v->items[0]) && isSide(&v->items[1]))
    return std::vector<int64_t>{v->items[0].integer, v->items[1].integer};
  const JsonValue *height = memberOf(*v, "height"), *width = memberOf(*v, "width");
  if (isSide(height) && isSide(width) && countOf(*v) == 2)
    return std::vector<int64_t>{height->integer, width->integer};
  return std::nullopt;
}

static void readSize(SideFileReader &file, const PictureClass &known, Builder &b, Attributes &picture) {
  const JsonValue *size = file.root.find("size");
  auto shortest = [&](int64_t n, std::optional<int64_t> longest) {
    picture.set(picture::shortest.name, b.getI64IntegerAttr(n));
    if (known.multiple && !longest)
      longest = int64_t(1333.0 / 800.0 * double(n));
    if (longest)
      picture.set(picture::longest.name, b.getI64IntegerAttr(*longest));
  };
  if (const JsonValue *shorter = size ? memberOf(*size, "shortest_edge") : nullptr) {
    file.take("size");
    const JsonValue *longer = memberOf(*size, "longest_edge");
    bool good = isSide(shorter) &&
                (!longer || (longer->kind == Kind::Integer && longer->integer >= shorter->integer)) &&
                countOf(*size) == (longer ? 2 : 1);
    if (!good)
      file.error(Error::CompanionValue, *size, "size",
                 "shortest_edge of 1 to 16384 and no more expected, found " + size->text());
    else
      shortest(shorter->integer, longer ? std::optional<int64_t>(longer->integer) : std::nullopt);
    return;
  }
  std::optional<std::vector<int64_t>> sides = sidesOf(file, "size");
  if (size && !size->isNull() && !sides) {
    file.error(Error::CompanionValue, *size, "size",
               "height and width, shortest_edge, or one number of 1 to 16384 expected, found " + size->text());
    return;
  }
  bool one = !size || size->kind == Kind::Integer;
  int64_t side = sides ? sides->front() : known.size;
  if (one && !known.square)
    shortest(side, std::nullopt);
  else
    picture.set(picture::size.name, sides ? listOf(b, *sides) : listOf(b, llvm::ArrayRef<int64_t>{side, side}));
}

static void readPicture(SideFileReader &file, const PictureClass &known, Builder &b, Attributes &picture) {
  bool resize = file.boolean("do_resize").value_or(true);
  // The library writes all settings, those of steps that are switched off too.
  Attributes unused;
  readSize(file, known, b, resize ? picture : unused);
  std::optional<int64_t> resample = file.integer("resample", picture::resample);
  if (resize)
    picture.set(picture::resample.name, b.getI64IntegerAttr(resample.value_or(known.resample)));
  bool crop = file.boolean("do_center_crop").value_or(known.crop > 0);
  std::optional<std::vector<int64_t>> cropped = sidesOf(file, "crop_size");
  if (const JsonValue *v = file.root.find("crop_size"); v && !v->isNull() && !cropped)
    file.error(Error::CompanionValue, *v, "crop_size",
               "height and width, or one number of 1 to 16384 expected, found " + v->text());
  if (crop)
    picture.set(picture::crop.name,
                cropped ? listOf(b, *cropped) : listOf(b, llvm::ArrayRef<int64_t>{known.crop, known.crop}));
  bool rescale = file.boolean("do_rescale").value_or(true);
  std::optional<double> factor = file.number("rescale_factor", picture::rescale);
  if (rescale)
    picture.set(picture::rescale.name, b.getF64FloatAttr(factor.value_or(1.0 / 255.0)));
  bool normalize = file.boolean("do_normalize").value_or(true);
  // As many numbers as channels; checkPicture compares them with the model's.
  std::optional<std::vector<double>> mean = file.numbers("image_mean", {1, 3}),
                                     deviation = file.numbers("image_std", {1, 3});
  if (deviation && llvm::is_contained(*deviation, 0.0))
    file.error(Error::CompanionValue, *file.root.find("image_std"), "image_std", "a deviation of 0 divides by nothing");
  if (normalize) {
    picture.set(picture::mean.name, listOf(b, mean.value_or(known.mean)));
    picture.set(picture::std.name, listOf(b, deviation.value_or(known.deviation)));
  }
  std::optional<int64_t> multiple = file.integer("size_divisor", picture::multiple);
  if (multiple.value_or(known.multiple) > 1 && picture.get(picture::shortest.name))
    picture.set(picture::multiple.name, b.getI64IntegerAttr(multiple.value_or(known.multiple)));
  file.only("do_flip_channel_order", {"false"}, "channels in another order are unsupported");
  file.only("do_color_quantize", {"false"}, "pictures as clusters of colours are unsupported");
  file.only("crop_pct", {}, "a share that is cropped belongs to other models");
  // One picture needs no padding, and every picture is RGB; the rest is for the library.
  file.ignore({"do_pad", "pad_and_return_pixel_mask", "pad_size", "do_convert_rgb", "do_reduce_labels",
               "image_processor_type", "feature_extractor_type", "processor_class", "auto_map", "_*",
               "image_seq_length", "num_image_tokens", "return_tensors", "data_format", "input_data_format", "device",
               "disable_grouping", "default_to_square", "transformers_version"});
  file.finish({"do_resize", "size", "resample", "do_center_crop", "crop_size", "do_rescale", "rescale_factor",
               "do_normalize", "image_mean", "image_std", "size_divisor"});
}

//===--- sound ----------------------------------------------------------------===//

static void readSound(SideFileReader &file, StringRef name, Builder &b, Attributes &sound) {
  auto set = [&](const Setting &setting, int64_t value) { sound.set(setting.name, b.getI64IntegerAttr(value)); };
  int64_t rate = file.integer("sampling_rate", sound::rate).value_or(int64_t(sound::rate.otherwise));
  set(sound::rate, rate);
  file.only("padding_side", {"\"right\""}, "silence in front of the sound is unsupported");
  file.only("dither", {"0"}, "noise added to the sound is unsupported");
  if (name == "Whisper") {
    set(sound::bins, file.integer("feature_size", sound::bins).value_or(80));
    set(sound::n_fft, file.integer("n_fft", sound::n_fft).value_or(400));
    int64_t hop = file.integer("hop_length", sound::hop).value_or(160);
    int64_t samples = file.integer("chunk_length", 1, 3600).value_or(30) * rate;
    set(sound::hop, hop);
    set(sound::samples, samples);
    // These two follow from the others.
    auto follows = [&](StringRef key, int64_t value) {
      std::optional<int64_t> said = file.integer(key, 0, INT64_MAX);
      if (said && *said != value)
        file.error(Error::CompanionValue, *file.root.find(key), key,
                   "the other keys make it " + Twine(value) + ", found " + Twine(*said));
    };
    follows("n_samples", samples);
    follows("nb_max_frames", samples / hop);
    file.only("padding_value", {"0"}, "padding is silence");
    // Older files bring the filters along, which follow from the keys above.
    file.ignore({"mel_filters", "window", "do_normalize"});
  } else if (name == "Wav2Vec2") {
    set(sound::raw, 1);
    file.only("feature_size", {"1"}, "sound with several numbers a sample is unsupported");
    set(sound::normalize, file.boolean("do_normalize").value_or(true));
    file.ignore({"padding_value"});
  } else if (name == "AST") {
    set(sound::fbank, 1);
    set(sound::bins, file.integer("num_mel_bins", sound::bins).value_or(128));
    set(sound::hann, 1);
    set(sound::frames, file.integer("max_length", sound::frames).value_or(1024));
    std::optional<double> mean = file.number("mean", sound::mean), deviation = file.number("std", 1e-6, 1e6);
    bool normalize = file.boolean("do_normalize").value_or(true);
    sound.set(sound::mean.name, b.getF64FloatAttr(normalize ? mean.value_or(-4.2677393) : 0.0));
    sound.set(sound::std.name, b.getF64FloatAttr(normalize ? 2 * deviation.value_or(4.5689974) : 1.0));
    file.only("padding_value", {"0"}, "rows after the sound are 0");
    file.ignore({"feature_size", "mel_filters", "window"});
  } else if (name == "Speech2Text") {
    set(sound::fbank, 1);
    set(sound::bins, file.integer("num_mel_bins", sound::bins).value_or(80));
    bool normalize = file.boolean("do_ceptral_normalize").value_or(true); // as the library spells it
    set(sound::means, normalize && file.boolean("normalize_means").value_or(true));
    set(sound::deviations, normalize && file.boolean("normalize_vars").value_or(true));
    file.ignore({"feature_size", "padding_value", "normalize_means", "normalize_vars", "mel_filters", "window"});
  } else {
    set(sound::fbank, 1);
    set(sound::bins, file.integer("num_mel_bins", sound::bins).value_or(80));
    set(sound::stride, file.integer("stride", sound::stride).value_or(2));
    // feature_size repeats num_mel_bins; the languages are those of the decoder's texts.
    file.ignore({"feature_size", "padding_value", "src_lang", "tgt_lang", "mel_filters", "window"});
  }
  file.ignore({"return_attention_mask", "feature_extractor_type", "processor_class", "auto_map", "_*",
               "transformers_version", "return_tensors"});
  file.finish({"sampling_rate", "feature_size", "n_fft", "hop_length", "chunk_length", "do_normalize", "num_mel_bins",
               "stride", "padding_side", "padding_value", "return_attention_mask", "max_length", "mean", "std",
               "do_ceptral_normalize", "normalize_means", "normalize_vars"});
}

/// Whose sound is read, by the name of the class.
static constexpr StringRef kSoundClasses[] = {"Whisper", "Wav2Vec2", "SeamlessM4T", "Speech2Text", "AST"};

//===----------------------------------------------------------------------===//

void heddle::readPreprocessor(SideFileReader &file, StringRef modelType, Builder &b, Attributes &picture,
                              Attributes &sound) {
  const JsonValue *type = file.take("image_processor_type");
  if (!type || !type->isString())
    type = file.take("feature_extractor_type");
  StringRef name = type && type->isString() ? StringRef(type->string) : StringRef();
  for (StringRef end : {"Fast", "Pil", "ImageProcessor", "FeatureExtractor"})
    name.consume_back(end);
  for (const PictureClass &known : pictureClasses)
    if (name == known.name)
      return readPicture(file, known, b, picture);
  // The first files of this type name no class.
  if (name.empty() && modelType == "speech_to_text")
    name = "Speech2Text";
  if (llvm::is_contained(kSoundClasses, name))
    return readSound(file, name, b, sound);
  // Without a class of the library the model's own is meant; a file that says neither is not about this model.
  for (const PictureClass &known : pictureClasses)
    if (name.empty() && known.name.equals_insensitive(modelType))
      return readPicture(file, known, b, picture);
  if (type && (file.root.find("image_mean") || file.root.find("sampling_rate")))
    file.error(Error::CompanionUnsupported, *type,
               file.root.find("image_processor_type") ? "image_processor_type" : "feature_extractor_type",
               "no way is known to do what " + type->text() + " does" +
                   "; known: ViT, DeiT, CLIP, Blip, Vilt, Bit, Siglip, Beit, " +
                   llvm::join(llvm::ArrayRef(kSoundClasses), ", "))
        .note(type->loc, "without this file the model takes its tensors by `run --input FILE`");
}
