//===- LineEditorTest.cpp - Editing a line at a terminal ------------------===//
//
// Keys as a terminal sends them, and what is shown.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/LineEditor.h"

#include <gtest/gtest.h>

using namespace heddle::chat;
using Event = LineEditor::Event;

namespace {

/// Types `keys`; the event of the last one.
Event type(LineEditor &editor, const std::string &keys) {
  Event event = Event::None;
  for (char key : keys)
    event = editor.key(static_cast<unsigned char>(key));
  return event;
}

std::string typed(const std::string &keys) {
  LineEditor editor;
  editor.begin();
  type(editor, keys);
  return editor.text();
}

TEST(LineEditor, Keys) {
  EXPECT_EQ(typed("abc\x01x\x05y"), "xabcy");
  EXPECT_EQ(typed("abc\x1b[D\x1b[D-\x1b[C+"), "a-b+c");
  EXPECT_EQ(typed("abc\x1b[Hx\x1b[Fy\x1bOHz"), "zxabcy");
  EXPECT_EQ(typed("abc\x1b[1~x\x1b[4~y"), "xabcy");
  EXPECT_EQ(typed("abc\x7f\x08"), "a");
  EXPECT_EQ(typed("abc\x01\x1b[3~\x04"), "c");
  EXPECT_EQ(typed("one two  \x17"
                  "three"),
            "one three");
  EXPECT_EQ(typed("one two\x02\x02\x02\x0b"), "one ");
  EXPECT_EQ(typed("one two\x02\x02\x02\x15"), "two");
  EXPECT_EQ(typed("\x7f\x1b[D\x1b[C\x1b[3~\x17\x15\x0b"), "");
  // Keys without a meaning leave nothing behind: Alt and a letter, F5, Ctrl and an arrow that is unknown.
  EXPECT_EQ(typed("a\x1bq\x1b[15~\x1b[1;5Zb\x07"), "ab");
}

TEST(LineEditor, Ends) {
  LineEditor editor;
  editor.begin();
  EXPECT_EQ(type(editor, "\x04"), Event::End);
  EXPECT_EQ(type(editor, "a\x04"), Event::Changed);
  EXPECT_EQ(type(editor, "\r"), Event::Done);
  EXPECT_EQ(type(editor, "\n"), Event::Done);
  EXPECT_EQ(type(editor, "\x03"), Event::Interrupt);
  EXPECT_EQ(type(editor, "\x1a"), Event::Suspend);
  EXPECT_EQ(type(editor, "\x0c"), Event::Clear);
  EXPECT_EQ(editor.text(), "a");
}

TEST(LineEditor, History) {
  LineEditor editor;
  for (const char *line : {"first", "second", "second", ""})
    editor.remember(line);
  editor.begin();
  type(editor, "draft\x1b[A");
  EXPECT_EQ(editor.text(), "second");
  type(editor, "\x10\x10");
  EXPECT_EQ(editor.text(), "first");
  type(editor, "!\x0e\x0e\x0e");
  EXPECT_EQ(editor.text(), "draft");
  type(editor, "\x10\x10");
  EXPECT_EQ(editor.text(), "first"); // what was changed there is not kept
}

TEST(LineEditor, Paste) {
  EXPECT_EQ(typed("a\x1b[200~b\rc\x03\x1b[Ad\x1b[201~\x7f"), "ab\nc\x03");
  LineEditor editor;
  editor.begin();
  EXPECT_EQ(type(editor, "\x1b[200~one\rtwo\r\x1b[201~"), Event::None);
  EXPECT_EQ(type(editor, "\r"), Event::Done);
  EXPECT_EQ(editor.draw("> ", 80), "\r> one\u240atwo\u240a\x1b[K\r\x1b[10C");
}

TEST(LineEditor, WideAndCombined) {
  EXPECT_EQ(widthOf('a'), 1);
  EXPECT_EQ(widthOf(0xe9), 1);
  EXPECT_EQ(widthOf(0x301), 0);
  EXPECT_EQ(widthOf(0x200d), 0);
  EXPECT_EQ(widthOf(0x4f60), 2);
  EXPECT_EQ(widthOf(0x1f9f5), 2);
  EXPECT_EQ(widthOf(0x2400), 1);
  EXPECT_EQ(widthOf(0x10ffff), 1);
  EXPECT_EQ(typed("\u4f60\u597d\x7f"), "\u4f60");
  // A letter and what is written over it go together.
  EXPECT_EQ(typed("xe\u0301\x7f"), "x");
  EXPECT_EQ(typed("xe\u0301\x02\x04"), "x");
  // Bytes that are no character are dropped.
  EXPECT_EQ(typed("a\x80\xff\xe4\xbd"
                  "b"),
            "ab");
  LineEditor editor;
  editor.begin();
  type(editor, "\u4f60e\u0301b");
  EXPECT_EQ(editor.draw("> ", 80), "\r> \u4f60e\u0301b\x1b[K\r\x1b[6C");
  type(editor, "\x02\x02");
  EXPECT_EQ(editor.draw("> ", 80), "\r> \u4f60e\u0301b\x1b[K\r\x1b[4C");
}

TEST(LineEditor, LongerThanTheScreen) {
  LineEditor editor;
  editor.begin();
  for (int i = 0; i < 30; ++i)
    type(editor, std::string(1, char('a' + i % 26)));
  EXPECT_EQ(editor.draw("> ", 13), "\r> uvwxyzabcd\x1b[K\r\x1b[12C");
  type(editor, "\x01");
  EXPECT_EQ(editor.draw("> ", 13), "\r> abcdefghij\x1b[K\r\x1b[2C");
  type(editor, "\u4f60\u4f60\u4f60\u4f60\u4f60\u4f60");
  EXPECT_EQ(editor.draw("> ", 13), "\r> \u4f60\u4f60\u4f60\u4f60\u4f60\x1b[K\r\x1b[12C");
  EXPECT_EQ(editor.draw("> ", 1), "\r> \u4f60\u4f60\x1b[K\r\x1b[6C"); // a screen of no width
}

} // namespace
