// A conversation of a request as the text that the model reads: what its template understands is in the card, and what
// it does not is done here (a system turn goes in front of the first question, parts are joined).
#ifndef HEDDLE_RUNTIME_SERVE_SERVECHAT_H
#define HEDDLE_RUNTIME_SERVE_SERVECHAT_H

#include "runtime/Card.h"
#include "runtime/Serve/RequestFields.h"

namespace heddle::serve {

/// The value of a line `chat NAME VALUE` of the card; "" if there is none.
std::string chatTrait(const rt::Card &card, std::string_view name);

/// The variables of the template: messages, tools, add_generation_prompt, and those of chat_template_kwargs.
ApiError conversationOf(const rt::Card &card, const json::Value &body, json::Value &variables);

} // namespace heddle::serve

/// Renders `request`, an object of variables, with the program's template (runtime/Chat). False: `text` is the error.
/// Linked into programs with a template; elsewhere null.
extern "C" bool heddle_serve_render(const std::string &request, std::string &text) __attribute__((weak));

#endif
