//===- ServeRenderer.cpp - the template of a program that serves ----------===//
//
// Renders conversations with the template inside the program, for its server.
//
//===----------------------------------------------------------------------===//
#include "heddle/template.h"

extern "C" {
extern const unsigned char heddle_template[];
extern const uint64_t heddle_template_size;
bool heddle_serve_render(const std::string &request, std::string &text);
}

bool heddle_serve_render(const std::string &request, std::string &text) {
  // Called by the reader's thread alone.
  static const std::string blob(reinterpret_cast<const char *>(heddle_template), heddle_template_size);
  static std::string error;
  static const std::unique_ptr<heddle::rt::TemplateRunner> runner = heddle::rt::TemplateRunner::open(blob, error);
  if (!runner) {
    text = "the chat template in this program is damaged: " + error;
    return false;
  }
  heddle::rt::TemplateRunner::Result result = runner->render(request);
  text = std::move(result.text);
  return result.good;
}
