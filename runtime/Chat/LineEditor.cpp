//===- LineEditor.cpp - Editing a line at a terminal ----------------------===//
//
// The keys are those of readline. Between the marks of a bracketed paste all
// bytes are text, line feeds too.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/LineEditor.h"

#include "heddle/utf8.h"

#include <algorithm>

namespace heddle::chat {

using Event = LineEditor::Event;

static std::vector<uint32_t> charactersOf(std::string_view text) {
  std::vector<uint32_t> out;
  while (!text.empty()) {
    uint32_t c = 0xfffd;
    size_t n = std::max<size_t>(decodeUtf8(text, c), 1);
    out.push_back(c);
    text.remove_prefix(n);
  }
  return out;
}

void LineEditor::begin() {
  line.clear();
  draft.clear();
  cursor = 0;
  shown = history.size();
  state = State::Text;
  partial.clear();
  pasting = false;
}

std::string LineEditor::text() const {
  std::string out;
  for (uint32_t c : line)
    appendUtf8(out, c);
  return out;
}

void LineEditor::remember(const std::string &text) {
  if (!text.empty() && (history.empty() || history.back() != text))
    history.push_back(text);
}

//===-- moving and changing ------------------------------------------------------===//

/// The place before the character in front of `place`, with all that is written over it.
size_t LineEditor::before(size_t place) const {
  while (place > 0 && widthOf(line[--place]) == 0) {
  }
  return place;
}

size_t LineEditor::after(size_t place) const {
  if (place < line.size())
    ++place;
  while (place < line.size() && widthOf(line[place]) == 0)
    ++place;
  return place;
}

size_t LineEditor::wordBefore(size_t place) const {
  auto blank = [&](size_t i) { return line[i] == ' ' || line[i] == '\n' || line[i] == '\t'; };
  while (place > 0 && blank(place - 1))
    --place;
  while (place > 0 && !blank(place - 1))
    --place;
  return place;
}

Event LineEditor::insert(uint32_t character) {
  line.insert(line.begin() + long(cursor++), character);
  return Event::Changed;
}

Event LineEditor::erase(size_t from, size_t to) {
  line.erase(line.begin() + long(from), line.begin() + long(to));
  cursor = from;
  return Event::Changed;
}

/// Shows the line `step` further in the history; after its end is the one that is being written.
Event LineEditor::browse(int step) {
  if (step < 0 ? shown == 0 : shown == history.size())
    return Event::None;
  if (shown == history.size())
    draft = line;
  shown += size_t(step);
  line = shown == history.size() ? draft : charactersOf(history[shown]);
  cursor = line.size();
  return Event::Changed;
}

//===-- keys ---------------------------------------------------------------------===//

Event LineEditor::key(unsigned char byte) {
  if (state != State::Text)
    return sequence(byte);
  if (byte == 0x1b) {
    partial.clear();
    state = State::Escape;
    return Event::None;
  }
  if (byte < 0x80) {
    partial.clear();
    return plain(byte);
  }
  partial += char(byte);
  uint32_t c = 0;
  if (decodeUtf8(partial, c) == 0) {
    // At most four bytes are one character; a byte that begins none is dropped.
    size_t wanted = static_cast<unsigned char>(partial[0]) >= 0xf0   ? 4
                    : static_cast<unsigned char>(partial[0]) >= 0xe0 ? 3
                                                                     : 2;
    if (static_cast<unsigned char>(partial[0]) < 0xc2 || partial.size() >= wanted)
      partial.clear();
    return Event::None;
  }
  partial.clear();
  return plain(c);
}

Event LineEditor::plain(uint32_t character) {
  if (pasting)
    return character == 0 ? Event::None : insert(character == '\r' ? '\n' : character);
  return character < 0x20 || character == 0x7f ? control(static_cast<unsigned char>(character)) : insert(character);
}

Event LineEditor::control(unsigned char byte) {
  auto move = [&](size_t to) {
    cursor = to;
    return Event::Changed;
  };
  constexpr auto ctrl = [](char letter) { return letter & 0x1f; };
  switch (byte) {
  case '\r':
  case '\n': return Event::Done;
  case ctrl('A'): return move(0);
  case ctrl('B'): return move(before(cursor));
  case ctrl('C'): return Event::Interrupt;
  case ctrl('D'): return line.empty() ? Event::End : erase(cursor, after(cursor));
  case ctrl('E'): return move(line.size());
  case ctrl('F'): return move(after(cursor));
  case ctrl('H'):
  case 0x7f: return erase(before(cursor), cursor);
  case ctrl('K'): return erase(cursor, line.size());
  case ctrl('L'): return Event::Clear;
  case ctrl('N'): return browse(1);
  case ctrl('P'): return browse(-1);
  case ctrl('U'): return erase(0, cursor);
  case ctrl('W'): return erase(wordBefore(cursor), cursor);
  case ctrl('Z'): return Event::Suspend;
  default: return Event::None;
  }
}

/// Behind an escape: `[`, parameters and a letter or `~`; `O` and a letter; any other byte is a key with Alt, dropped.
Event LineEditor::sequence(unsigned char byte) {
  if (state == State::Escape) {
    parameters.clear();
    state = byte == '[' ? State::Bracket : byte == 'O' ? State::Single : byte == 0x1b ? State::Escape : State::Text;
    return Event::None;
  }
  if (state == State::Bracket && byte >= 0x20 && byte < 0x40 && parameters.size() < 16) {
    parameters += char(byte);
    return Event::None;
  }
  state = State::Text;
  return named(parameters, byte);
}

Event LineEditor::named(const std::string &parameters, unsigned char final) {
  if (final == '~' && (parameters == "200" || parameters == "201")) {
    pasting = parameters == "200";
    return Event::None;
  }
  if (pasting)
    return Event::None;
  size_t place = cursor;
  switch (final) {
  case 'A': return browse(-1);
  case 'B': return browse(1);
  case 'C': place = after(cursor); break;
  case 'D': place = before(cursor); break;
  case 'H': place = 0; break;
  case 'F': place = line.size(); break;
  case '~':
    if (parameters == "3")
      return erase(cursor, after(cursor));
    if (parameters == "1" || parameters == "7")
      place = 0;
    if (parameters == "4" || parameters == "8")
      place = line.size();
    break;
  default: return Event::None;
  }
  cursor = place;
  return Event::Changed;
}

//===-- drawing ------------------------------------------------------------------===//

/// What is shown for a character: signs for control characters.
static uint32_t glyphOf(uint32_t c) { return c < 0x20 ? 0x2400 + c : c >= 0x7f && c < 0xa0 ? 0xfffd : c; }

std::string LineEditor::draw(const std::string &prompt, size_t columns) const {
  // The last column stays free: a cursor after it would be on the next line.
  size_t room = columns > prompt.size() + 4 ? columns - prompt.size() - 1 : 4, column = 0, first = cursor;
  while (first > 0) {
    size_t next = before(first), width = 0;
    for (size_t i = next; i < first; ++i)
      width += size_t(widthOf(glyphOf(line[i])));
    if (column + width > room)
      break;
    column += width;
    first = next;
  }
  std::string out = "\r" + prompt;
  size_t used = 0;
  for (size_t i = first; i < line.size(); ++i) {
    auto width = size_t(widthOf(glyphOf(line[i])));
    if (used + width > room)
      break;
    used += width;
    appendUtf8(out, glyphOf(line[i]));
  }
  return out + "\x1b[K\r\x1b[" + std::to_string(prompt.size() + column) + "C";
}

} // namespace heddle::chat
