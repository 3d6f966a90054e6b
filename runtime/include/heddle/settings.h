//===- settings.h - How a model generates, sees and hears -------*- C++ -*-===//
//
// The settings of card.def: `generation::top_k`, `picture::crop`, `sound::rate`. The compiler writes them from
// generation_config.json and preprocessor_config.json; the runtime reads them and takes its defaults from here.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_SETTINGS_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_SETTINGS_H

#include <cmath>
#include <cstdint>
#include <string_view>

namespace heddle {

/// One number: whole, real, 0 or 1, one of a few; or a list: of ids, of groups of ids, of whole or of real numbers.
enum class SettingKind : uint8_t { Integer, Real, Flag, Choice, Ids, Groups, Integers, Reals };

struct Setting {
  std::string_view name;
  SettingKind kind;
  double least, most; ///< of each number
  double otherwise;   ///< what a model has that does not say it

  constexpr bool isList() const { return kind >= SettingKind::Ids; }
  /// Whether `number` may be one of its numbers.
  bool takes(double number) const {
    bool real = kind == SettingKind::Real || kind == SettingKind::Reals;
    return number >= least && number <= most && (real || number == std::floor(number));
  }
};

/// Limits where nothing else is one: of a length or an id, and of any number.
inline constexpr double kLong = 1 << 30, kFar = 1e300;

namespace generation {
#define HEDDLE_GENERATION(name, kind, least, most, otherwise, ...)                                                     \
  inline constexpr Setting name{#name, SettingKind::kind, least, most, otherwise};
#include "heddle/card.def"
inline constexpr Setting kAll[] = {
#define HEDDLE_GENERATION(name, ...) name,
#include "heddle/card.def"
};
} // namespace generation

namespace picture {
#define HEDDLE_PICTURE(name, kind, least, most, otherwise, ...)                                                        \
  inline constexpr Setting name{#name, SettingKind::kind, least, most, otherwise};
#include "heddle/card.def"
inline constexpr Setting kAll[] = {
#define HEDDLE_PICTURE(name, ...) name,
#include "heddle/card.def"
};
} // namespace picture

namespace sound {
#define HEDDLE_SOUND(name, kind, least, most, otherwise, ...)                                                          \
  inline constexpr Setting name{#name, SettingKind::kind, least, most, otherwise};
#include "heddle/card.def"
inline constexpr Setting kAll[] = {
#define HEDDLE_SOUND(name, ...) name,
#include "heddle/card.def"
};
} // namespace sound

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_SETTINGS_H
