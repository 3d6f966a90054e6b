//===- GenerateFlags.h - What a generation is asked to do ---------*- C++
//-*-===//
//
// The defaults are those of generation_config.json, which the card keeps; flags
// override them one by one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATEFLAGS_H
#define HEDDLE_RUNTIME_GENERATEFLAGS_H

#include "runtime/Args.h"
#include "runtime/Generate.h"

namespace heddle::rt {

/// The names of these flags, for Args::parse, with `more` before them.
std::vector<std::string> generateValued(std::vector<std::string> more);
std::vector<std::string> generatePlain(std::vector<std::string> more);

/// A seed from the system, for a text that nobody has seen before.
uint64_t drawSeed();

/// Fills everything but the callbacks. `newTokens` is what the flags or the
/// defaults ask for, and may be more than there is room for; `drawnSeed` is the
/// seed where --seed gives none.
Status readGenerateFlags(const Args &args, const Card &card,
                         const Prompt &prompt, uint64_t drawnSeed,
                         GenerateOptions &options);

/// Texts that end a text: --stop, or else those of generation_config.json.
std::vector<std::string> stopTexts(const Args &args, const Roles &roles);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATEFLAGS_H
