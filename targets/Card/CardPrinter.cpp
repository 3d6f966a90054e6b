//===- CardPrinter.cpp - lines of a card, and those of an entry -----------===//

#include "targets/Card/CardPrinter.h"
#include "heddle/card_words.h"

using namespace mlir;
using namespace heddle;

static constexpr llvm::StringLiteral kWords[] = {
#define HEDDLE_CARD_LINE(section, Name, word, ...) word,
#include "heddle/card.def"
};

std::string heddle::wordOf(StringRef text) { return cardWord(std::string_view(text)); }

std::string heddle::wordsOf(ArrayAttr texts) {
  std::string words;
  for (auto text : texts.getAsRange<StringAttr>())
    words += (words.empty() ? "" : " ") + wordOf(text);
  return words;
}

void CardPrinter::line(CardLine which, const Twine &rest) {
  std::string behind = rest.str();
  text += kWords[size_t(which)].str() + (behind.empty() ? "" : " ") + behind + "\n";
}

void CardPrinter::textLine(CardLine which, StringRef text) {
  if (!text.empty())
    line(which, wordOf(text));
}

/// "input_ids i64 [B, T] default".
static std::string valueText(card::TensorAttr tensor) {
  Type element = tensor.getType().getElementType();
  std::string text = wordOf(tensor.getName()) + (element.isF32()         ? " f32 ["
                                                 : element.isInteger(64) ? " i64 ["
                                                                         : " bool [");
  for (auto [i, axis] : llvm::enumerate(tensor.getType().getAxes()))
    text += (i ? ", " : "") + axis.getValue().str();
  return text + "]" + (tensor.getHasDefault() ? " default" : tensor.getOptional() ? " optional-all" : "");
}

static std::string stateText(card::StateAttr state) {
  std::string text = wordOf(state.getName()) + " " + state.getBytes().str();
  if (state.getGroups())
    text += " groups " + std::to_string(state.getGroups());
  if (state.getRing())
    text += " ring " + std::to_string(state.getRing());
  if (DenseI64ArrayAttr rows = state.getRows()) {
    text += " rows";
    for (int64_t number : rows.asArrayRef())
      text += " " + std::to_string(number);
  }
  return text;
}

static std::string requireText(card::RequireAttr need) {
  std::string text = need.getLeft().str() + (need.getDiffer() ? " != " : " >= ") + need.getRight().str() + " at " +
                     wordOf(need.getOp()) + " " + wordOf(need.getPlace());
  return text + (need.getWithout() ? " without " + wordOf(need.getWithout()) : "");
}

static std::string phaseText(card::PhaseAttr phase) {
  std::string text = phase.getOps().str() + (phase.getMath() ? " " + phase.getMath().str() : "") + " turns " +
                     std::to_string(phase.getRepeats()) + " operations " + phase.getOperations().str() + " bytes " +
                     phase.getBytes().str();
  for (auto [key, value] :
       {std::pair(" at ", phase.getPlace()), {" in ", phase.getStatement()}, {" of ", phase.getNode()}})
    if (value)
      text += key + wordOf(value);
  if (phase.getKernels())
    text += " by " + wordsOf(phase.getKernels());
  return text + (phase.getWeight() ? " # " + wordOf(phase.getWeight()) : "");
}

template <typename T> static auto elements(ArrayAttr list) {
  return list ? llvm::to_vector(list.getAsRange<T>()) : SmallVector<T>();
}

void CardPrinter::entry(card::EntryAttr entry) {
  line(CardLine::Entry, wordOf(entry.getName()));
  line(CardLine::Dims, wordsOf(entry.getDims()));
  for (auto input : elements<card::TensorAttr>(entry.getInputs()))
    line(CardLine::Input, valueText(input));
  for (auto output : elements<card::TensorAttr>(entry.getOutputs()))
    line(CardLine::Output, valueText(output));
  for (auto state : elements<card::StateAttr>(entry.getStates()))
    line(CardLine::State, stateText(state));
  for (auto need : elements<card::RequireAttr>(entry.getRequirements()))
    line(CardLine::Require, requireText(need));
  if (model::PiecesAttr pieces = entry.getPieces())
    line(CardLine::Pieces, Twine(pieces.getLongest()) + " beyond " + Twine(pieces.getBeyond()));
  for (auto [which, form] : {std::pair(CardLine::Flops, entry.getFlops()),
                             {CardLine::Integers, entry.getIntegers()},
                             {CardLine::Reads, entry.getReads()},
                             {CardLine::Arena, entry.getArena()}})
    if (form)
      line(which, form.getValue());
  for (auto phase : elements<card::PhaseAttr>(entry.getPhases()))
    line(CardLine::Phase, phaseText(phase));
  for (auto length : elements<StringAttr>(entry.getLengths()))
    line(CardLine::Length, length.getValue());
}
