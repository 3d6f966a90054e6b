// The payload is the seven fields joined by NUL. No field contains a NUL: texts
// from files go through printable().
#include "compiler/Weights/Files/Problem.h"
#include "absl/strings/cord.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

static constexpr char payloadUrl[] = "heddle/weight-problem";

WeightProblem brokenRule(Error rule, std::string message, std::string file, std::optional<uint64_t> byte,
                         std::string tensor, std::string help) {
  // H0207 is rule S07.
  std::string number = std::string("S") + (codeOf(rule) + 3);
  return {rule, number, std::move(message), std::move(file), byte, std::move(tensor), std::move(help)};
}

std::string render(const WeightProblem &problem) {
  std::string text = std::string("error[") + codeOf(problem.code) + "]: " + problem.message;
  text += "\n  --> " + problem.file;
  if (problem.byte)
    text += ": byte " + std::to_string(*problem.byte);
  if (!problem.tensor.empty())
    text += " (tensor `" + problem.tensor + "`)";
  if (!problem.help.empty())
    text += "\n  = help: " + problem.help;
  if (!problem.rule.empty())
    text += "\n  = note: safetensors rule " + problem.rule;
  return text;
}

static absl::StatusCode statusCodeOf(Exit exit) {
  switch (exit) {
  case Exit::Ok: return absl::StatusCode::kOk;
  case Exit::Input:
  case Exit::Usage: return absl::StatusCode::kInvalidArgument;
  case Exit::Unsupported: return absl::StatusCode::kUnimplemented;
  case Exit::Resources: return absl::StatusCode::kResourceExhausted;
  case Exit::InputOutput: return absl::StatusCode::kUnavailable;
  case Exit::Internal: break;
  }
  return absl::StatusCode::kInternal;
}

absl::Status toStatus(const WeightProblem &problem) {
  std::string text = render(problem);
  absl::Status status(statusCodeOf(exitOf(problem.code)), absl::string_view(text));
  std::string fields;
  for (const std::string &field :
       {std::to_string(int(problem.code)), problem.rule, problem.message, problem.file,
        problem.byte ? std::to_string(*problem.byte) : std::string(), problem.tensor, problem.help}) {
    fields += field;
    fields += '\0';
  }
  status.SetPayload(payloadUrl, absl::Cord(fields));
  return status;
}

std::optional<WeightProblem> problemOf(const absl::Status &status) {
  absl::optional<absl::Cord> payload = status.GetPayload(payloadUrl);
  if (!payload)
    return std::nullopt;
  std::string text(*payload);
  llvm::SmallVector<llvm::StringRef, 8> fields;
  llvm::StringRef(text).split(fields, '\0');
  if (fields.size() < 7)
    return std::nullopt;
  WeightProblem problem;
  uint8_t code;
  if (fields[0].getAsInteger(10, code))
    return std::nullopt;
  problem.code = Error(code);
  problem.rule = fields[1].str();
  problem.message = fields[2].str();
  problem.file = fields[3].str();
  uint64_t byte;
  if (!fields[4].getAsInteger(10, byte))
    problem.byte = byte;
  problem.tensor = fields[5].str();
  problem.help = fields[6].str();
  return problem;
}

Error errorOf(const absl::Status &status) {
  if (std::optional<WeightProblem> problem = problemOf(status))
    return problem->code;
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kNotFound: return Error::BadInput;
  case absl::StatusCode::kUnimplemented: return Error::NotSupported;
  case absl::StatusCode::kResourceExhausted: return Error::NoResources;
  default: return Error::CannotRead;
  }
}

std::string textOf(const absl::Status &status) {
  std::string text(status.message());
  if (problemOf(status))
    text.erase(0, text.find("]: ") + 3);
  return text;
}

} // namespace heddle
