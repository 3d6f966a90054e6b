//===- Licences.cpp - The notices of what is linked in --------------------===//
//
// The command `licences`: the notices that the licences of libraries and data
// inside a binary demand, and the model's licence where its files name one.
// As text, or with --json as one object: model, license, notices.
// Those of the libraries for pictures are in Media/PictureNotices.c, that of
// the server's in Serve/ServeNotices.cpp, zlib's in Base/Inflate.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

// Weak: null in models that take no pictures, in those that do not serve, and without zlib.
extern "C" const char *const heddle_notices_of_inflate __attribute__((weak));
extern "C" const char *heddle_notices_of_pictures(void) __attribute__((weak));
extern "C" const char *heddle_notices_of_serving(void) __attribute__((weak));

namespace heddle::rt {

static const char kCompilerNotices[] = R"(
== libstdc++, libgcc (static)

Copyright (C) Free Software Foundation, Inc. GNU General Public License,
version 3 or later, with the GCC Runtime Library Exception, version 3.1,
which permits linking them into programs under terms of one's choice.
The C library is not part of this file.
)";

static const char kUnicodeNotices[] = R"(
== Unicode data (character classes and maps of the tokenizer)

Copyright (c) 1991-2021 Unicode, Inc. The data was selected and compiled
into tables.

Permission is hereby granted, free of charge, to any person obtaining a
copy of the Unicode data files and any associated documentation (the "Data
Files") or Unicode software and any associated documentation (the
"Software") to deal in the Data Files or Software without restriction,
including without limitation the rights to use, copy, modify, merge,
publish, distribute, and/or sell copies of the Data Files or Software, and
to permit persons to whom the Data Files or Software are furnished to do
so, provided that (a) the above copyright notice(s) and this permission
notice appear with all copies of the Data Files or Software, (b) both the
above copyright notice(s) and this permission notice appear in associated
documentation, and (c) there is clear notice in each modified Data File or
in the Software as well as in the documentation associated with the Data
File(s) or Software that the data or software has been modified.

THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
THIRD PARTY RIGHTS. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS
INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR
CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF
USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
PERFORMANCE OF THE DATA FILES OR SOFTWARE.

Except as contained in this notice, the name of a copyright holder shall
not be used in advertising or otherwise to promote the sale, use or other
dealings in these Data Files or Software without prior written
authorization of the copyright holder.
)";

/// All notices. Each begins with a blank line and a line `== TITLE`.
static std::string noticesOf(const Model &model) {
  std::string text = "\n== Heddle's runtime and the code it generates\n\n"
                     "Heddle's repository names no licence yet.\n";
  text += kCompilerNotices;
  if (model.image().tokenizerSize)
    text += kUnicodeNotices;
  if (&heddle_notices_of_inflate)
    text += heddle_notices_of_inflate;
  if (heddle_notices_of_pictures)
    text += heddle_notices_of_pictures();
  if (heddle_notices_of_serving)
    text += heddle_notices_of_serving();
  return text;
}

static void printJson(const Card &card, std::string_view notices) {
  static constexpr std::string_view kTitle = "\n== ";
  printf("{\"model\":%s,\"license\":%s,\"notices\":[", jsonString(card.name).c_str(),
         card.license.empty() ? "null" : jsonString(card.license).c_str());
  for (size_t at = notices.find(kTitle), next; at != std::string_view::npos; at = next) {
    size_t title = at + kTitle.size(), end = notices.find('\n', title);
    next = notices.find(kTitle, end);
    std::string_view text = notices.substr(end, next == std::string_view::npos ? next : next - end);
    text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
    printf("%s{\"of\":%s,\"text\":%s}", at ? "," : "", jsonString(notices.substr(title, end - title)).c_str(),
           jsonString(text).c_str());
  }
  puts("]}");
}

Status licencesCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, {}, {"--json"}, 0, args));
  const Card &card = model.card();
  std::string notices = noticesOf(model);
  if (args.has("--json")) {
    printJson(card, notices);
    return {};
  }
  printf("== the model, %s\n\n%s\n", card.name.c_str(),
         card.license.empty() ? "Its files name no licence." : card.license.c_str());
  fputs(notices.c_str(), stdout);
  return {};
}

} // namespace heddle::rt
