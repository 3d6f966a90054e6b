//===- LineEditor.h - Editing a line at a terminal --------------*- C++ -*-===//
//
// A line that a person types: bytes of the keyboard in, bytes for the screen
// out. It knows no terminal and no file (Terminal.h does), so tests type
// without one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_LINEEDITOR_H
#define HEDDLE_RUNTIME_CHAT_LINEEDITOR_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::chat {

/// Columns that a character takes: 0 for what is written over the one before it, 2 for wide ones, 1 for all others.
int widthOf(uint32_t character);

class LineEditor {
public:
  enum class Event : uint8_t {
    None,
    Changed,   ///< draw again
    Clear,     ///< Ctrl-L: draw again on an empty screen
    Done,      ///< Enter: `text` is the line
    Interrupt, ///< Ctrl-C
    End,       ///< Ctrl-D on an empty line
    Suspend    ///< Ctrl-Z
  };

  /// Begins an empty line.
  void begin();
  /// Takes a byte of the keyboard.
  Event key(unsigned char byte);
  /// The line as UTF-8.
  std::string text() const;
  bool empty() const { return line.empty(); }
  /// What shows the line behind `prompt` (ASCII) in so many columns, with the cursor in its place. A line that is too
  /// long is shown around its cursor; a line feed, which a paste may hold, has a sign of its own.
  std::string draw(const std::string &prompt, size_t columns) const;
  /// Adds a line to those that up and down bring back.
  void remember(const std::string &text);

private:
  Event plain(uint32_t character);
  Event control(unsigned char byte);
  Event sequence(unsigned char byte);
  Event named(const std::string &parameters, unsigned char final);
  Event browse(int step);
  Event insert(uint32_t character);
  Event erase(size_t from, size_t to);
  size_t before(size_t place) const;
  size_t after(size_t place) const;
  size_t wordBefore(size_t place) const;

  std::vector<uint32_t> line;
  size_t cursor = 0;
  std::vector<std::string> history;
  size_t shown = 0;            ///< index into `history`; its size: the line that is being written
  std::vector<uint32_t> draft; ///< that line, while another one is shown
  enum class State : uint8_t { Text, Escape, Bracket, Single } state = State::Text;
  std::string parameters; ///< of an escape sequence
  std::string partial;    ///< bytes of a character that is not whole
  bool pasting = false;
};

} // namespace heddle::chat

#endif // HEDDLE_RUNTIME_CHAT_LINEEDITOR_H
