//===- GenerateFlags.h - What a generation is asked to do -------*- C++ -*-===//
//
// The flags of generation as options. Defaults are those of
// generation_config.json, which the card repeats; every flag overrides its own.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_GENERATEFLAGS_H
#define HEDDLE_RUNTIME_GENERATE_GENERATEFLAGS_H

#include "runtime/Core/Args.h"
#include "runtime/Generate/Generate.h"

namespace heddle::rt {

/// Takes --context N: texts may be as long as that. An error if the model cannot have so many positions.
Status readContext(const Args &args, Model &model);

/// Names of the flags with a value, and of those without, for Args::parse;
/// `more` are the command's own and come first.
std::vector<std::string> generateValued(std::vector<std::string> more);
std::vector<std::string> generatePlain(std::vector<std::string> more);

/// A seed from the system's random numbers, 32 bits so that it can be typed.
uint64_t drawSeed();

/// Reads flags and defaults into `options`, except the callbacks. `newTokens`
/// is what the flags or the defaults ask for and may be more than the model has
/// positions; `drawnSeed` is the seed where --seed gives none. An error for a
/// value out of range or a language that the model does not know.
Status readGenerateFlags(const Args &args, const Card &card, const Prompt &prompt, uint64_t drawnSeed,
                         GenerateOptions &options);

/// Lets an answer in a conversation get as long as it is: where neither flags nor the model's files say how many new
/// tokens there may be, it is `most`.
void allowWholeAnswer(const Args &args, const Card &card, int64_t most, GenerateOptions &options);

/// Positions of a conversation whose model has no bound or a higher one, unless a flag asks for more.
constexpr int64_t kConversation = 4096;

/// Texts at which generation stops: --stop, else those of
/// generation_config.json.
std::vector<std::string> stopTexts(const Args &args, const Roles &roles);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_GENERATEFLAGS_H
