// `MODEL serve`: the model as a server that speaks OpenAI's API. Three threads: the loop of sockets, one that reads
// requests (JSON, checks, template, tokenizer), and the one that computes, which is the program's own.
#include "runtime/Chat/Conversation.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/Stack.h"
#include "runtime/Generate/ChatTurn.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Program/Commands.h"
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/Gate.h"
#include "runtime/Serve/OpenAI.h"
#include "runtime/Serve/Page.h"
#include "runtime/Serve/Queue.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace heddle::serve {
namespace {

constexpr int64_t kMostSlots = 256;

struct ServeOptions {
  ListenOptions listen;
  int64_t queue = 64;
  std::optional<int64_t> slots; ///< texts at once; absent: kSlots where the model can
  bool log = false;
};

class Server {
public:
  Server(rt::Model &model, const rt::Tokenizers &tokenizers, const ServeOptions &options)
      : options(options), listener(options.listen), incoming(options.listen.connections / 2) {
    service.model = &model;
    service.tokenizer = &tokenizers.source();
    service.target = &tokenizers.target();
    service.started = int64_t(time(nullptr));
  }

  rt::Status configure(const rt::Args &args, const rt::StartOptions &start);
  rt::Status run();

private:
  rt::Status configureEngine();
  void configureChat();
  ApiError otherKind(const std::string &path) const;
  void take(ExchangePtr exchange);
  void readRequests();
  void answerSockets();
  void logAnswer(const RequestHead *head, int status);

  ServeOptions options;
  Service service;
  Metrics metrics;
  Gate gate;
  Listener listener;
  Queue<ExchangePtr> incoming;
  std::string together; ///< how many are computed at once, for people
  std::unique_ptr<Engine> engine;
  bool cut = false; ///< answers were, when the loop ended
};

std::vector<Route> routes() {
  std::vector<Route> all = {{"/", "GET", true},
                            {"/health", "GET", true},
                            {"/metrics", "GET"},
                            {"/v1/models", "GET"},
                            {"/v1/models/", "GET", false, true}};
  for (const EndpointName &one : endpointNames())
    all.push_back({one.path, "POST"});
  return all;
}

bool isThisMachine(const std::string &host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

rt::Status Server::configure(const rt::Args &args, const rt::StartOptions &start) {
  gate = Gate(routes());
  gate.allowHosts = args.all("--allow-host");
  gate.allowOrigins = args.all("--allow-origin");
  service.system = args.get("--system");
  std::string special = args.get("--special-in-content", "allow");
  if (special != "allow" && special != "refuse")
    return rt::badUsage("--special-in-content is allow or refuse, not " + rt::quote(special));
  service.refusesSpecial = special == "refuse";
  service.truncates = !args.has("--no-truncate");
  bool open = false;
  if (args.has("--api-key-file"))
    HEDDLE_TRY(readKeys(args.get("--api-key-file"), gate.keys, open));
  if (open)
    rt::note(args.get("--api-key-file") + ": everyone on this machine can read the keys; chmod 600");
  if (args.has("--api-key-file") && args.has("--no-key"))
    return rt::badUsage("--api-key-file and --no-key exclude each other");
  if (!isThisMachine(options.listen.host) && gate.keys.empty() && !args.has("--no-key"))
    return rt::badUsage("everyone who reaches " + options.listen.host + " could use the model")
        .withHelp("--api-key-file FILE asks for a key, --no-key serves everyone");
  const rt::Card &card = service.model->card();
  service.name = service.model->name; // two programs may be of one family
  service.aliases = args.all("--alias");
  service.aliases.push_back(card.name);
  const Seal *seal = service.model->image().seal;
  service.fingerprint = rt::format("heddle-%016llx", static_cast<unsigned long long>(seal ? seal->self : 0));
  service.context = std::min(service.model->context().value_or(rt::kConversation), rt::kConversation);
  HEDDLE_TRY(rt::readContext(args, *service.model));
  if (args.has("--context"))
    service.context = *service.model->context();
  HEDDLE_TRY(service.model->start(start));
  HEDDLE_TRY(configureEngine());
  if (args.has("--system") && !service.render)
    return rt::badUsage("--system is for conversations, and this model has no chat template");

  listener.judge = [this](const RequestHead &head) { return gate.judge(head); };
  listener.explain = [](const Refusal &refusal) { return errorBody(fromRefusal(refusal)); };
  listener.handle = [this](ExchangePtr exchange) { take(std::move(exchange)); };
  listener.onAnswer = [this](const RequestHead *head, int status) { logAnswer(head, status); };
  listener.onDrain = [this] { engine->drain(); };
  return listener.open();
}

/// What makes texts, or reads them.
rt::Status Server::configureEngine() {
  const rt::Card &card = service.model->card();
  if (card.roles.present) {
    service.endpoints = Completions | Chat;
    service.callArguments = card.chatTrait("arguments");
    if (&heddle_chat_render && !card.chat.empty())
      configureChat();
  }
  if (card.roles.present ? !&heddle_serve_texts : !&heddle_serve_encoder)
    return rt::internalError("the engine of this kind of model was not linked");
  return (card.roles.present ? heddle_serve_texts : heddle_serve_encoder)(
      service, listener, metrics, size_t(options.queue), options.slots, together, engine);
}

/// Conversations go through the program's template, and end where it ends a turn.
void Server::configureChat() {
  service.render = [this](const json::Value &body, std::string &text) -> ApiError {
    const json::Value *choice = memberOf(body, "tool_choice");
    chat::Request request = {memberOf(body, "messages"), memberOf(body, "tools"),
                             memberOf(body, "chat_template_kwargs")};
    if (choice && choice->text == "none")
      request.tools = nullptr;
    request.continues = flagOf(body, "continue_final_message", false);
    request.opensAnswer = flagOf(body, "add_generation_prompt", !request.continues);
    if (chat::Fault fault = heddle_chat_render(service.model->card(), request, text))
      return {400, std::move(fault.message), "messages", std::move(fault.code)};
    return {};
  };
  service.turnEnd = rt::turnEnd(service.model->card(), *service.target);
}

void Server::logAnswer(const RequestHead *head, int status) {
  bool known = head && gate.isPath(head->path);
  metrics.answered(known ? head->path : "", status);
  if (!options.log)
    return;
  // Nothing that a user has said is written.
  time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  fprintf(stderr, "%s %s %s %d\n", text, head ? rt::quote(head->method).c_str() : "-", known ? head->path.c_str() : "-",
          status);
}

/// The error of a path that models of another kind answer.
ApiError Server::otherKind(const std::string &path) const {
  std::string here;
  for (const EndpointName &one : endpointNames())
    if (service.endpoints & one.endpoint) {
      if (path == one.path)
        return {};
      here += (here.empty() ? "" : " and ") + std::string(one.path);
    }
  return {404, "this model does not answer " + path + "; it answers " + here, "", "not_served"};
}

/// On the loop: answers what is known at once, and queues the rest.
void Server::take(ExchangePtr exchange) {
  const std::string &path = exchange->head.path;
  auto answer = [&](int status, const char *type, std::string body) {
    listener.whole(*exchange, status, type, std::move(body));
  };
  if (path == "/health")
    return answer(listener.isDraining() ? 503 : 200, "application/json",
                  listener.isDraining() ? "{\"status\":\"draining\"}" : "{\"status\":\"ok\"}");
  if (path == "/")
    return listener.whole(*exchange, 200, "text/html; charset=utf-8", pageBytes(), pageFields());
  if (path == "/metrics")
    return answer(200, "text/plain; version=0.0.4", metrics.text(engine->waiting(), engine->slots()));
  if (path == "/v1/models")
    return answer(200, "application/json", modelList(service));
  if (path.rfind("/v1/models/", 0) == 0)
    return service.hasName(path.substr(11)) ? answer(200, "application/json", modelObject(service))
                                            : refuse(listener, *exchange, unknownModel(service, path.substr(11)));
  if (ApiError error = otherKind(path))
    return refuse(listener, *exchange, error);
  if (!incoming.put(exchange))
    refuse(listener, *exchange, {503, "too many requests wait", "", "overloaded"});
}

/// The reader's thread.
void Server::readRequests() {
  while (std::optional<ExchangePtr> exchange = incoming.take())
    if (!(*exchange)->abandoned)
      engine->put(std::move(*exchange));
  engine->close();
}

/// The loop's thread.
void Server::answerSockets() {
  cut = !listener.run();
  incoming.close();
}

static rt::Status noThread(const char *what, int error) {
  return rt::outOfResources(rt::format("no thread that %s: %s", what, strerror(error)))
      .withHelp("--threads N takes fewer for the model");
}

rt::Status Server::run() {
  // The threads are there before anything is promised.
  pthread_t reader, loop;
  auto read = [](void *self) -> void * { return static_cast<Server *>(self)->readRequests(), nullptr; };
  auto listen = [](void *self) -> void * { return static_cast<Server *>(self)->answerSockets(), nullptr; };
  if (int error = rt::startThread(reader, read, this))
    return noThread("reads requests", error);
  if (int error = rt::startThread(loop, listen, this)) {
    incoming.close();
    pthread_join(reader, nullptr);
    return noThread("answers connections", error);
  }
  printf("%s: http://%s:%u/ serves %s, %lld positions a text, %s\n", service.model->name.c_str(),
         options.listen.host.find(':') == std::string::npos ? options.listen.host.c_str()
                                                            : ("[" + options.listen.host + "]").c_str(),
         listener.port(), service.name.c_str(), static_cast<long long>(service.context), together.c_str());
  rt::Status written = rt::flushOutput();
  if (!written.ok())
    listener.stop(); // nobody learns the address
  engine->run();
  pthread_join(reader, nullptr);
  pthread_join(loop, nullptr);
  if (cut)
    rt::note("answers were cut: --drain SECONDS waits longer");
  return written;
}

} // namespace
} // namespace heddle::serve

namespace heddle::rt {

static Status serveCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words,
                         {"--host", "--port", "--context", "--slots", "--queue", "--threads", "--device",
                          "--api-key-file", "--alias*", "--allow-host*", "--allow-origin*", "--max-body", "--drain",
                          "--connections-per-peer", "--system", "--special-in-content"},
                         {"--no-key", "--log", "--fields", "--no-truncate"}, 0, args));
  if (args.has("--fields")) {
    fputs(serve::describeFields().c_str(), stdout);
    return {};
  }
  Tokenizers tokenizers;
  HEDDLE_TRY(tokenizers.open(model));
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  serve::ServeOptions options;
  int64_t port = options.listen.port, body = int64_t(options.listen.http.body), drain = 30, perPeer = 0;
  HEDDLE_TRY(args.integer("--port", 0, 65535, port));
  HEDDLE_TRY(args.integer("--max-body", 1, 1 << 30, body));
  HEDDLE_TRY(args.integer("--drain", 0, 3600, drain));
  if (args.has("--connections-per-peer"))
    HEDDLE_TRY(args.integer("--connections-per-peer", 1, 1 << 16, perPeer));
  HEDDLE_TRY(args.integer("--queue", 1, 1 << 16, options.queue));
  if (args.has("--slots"))
    HEDDLE_TRY(args.integer("--slots", 1, serve::kMostSlots, options.slots.emplace()));
  options.listen.port = uint16_t(port);
  options.listen.http.body = uint64_t(body);
  options.listen.drainSeconds = double(drain);
  options.listen.connectionsPerPeer = size_t(perPeer);
  options.listen.host = args.get("--host", "127.0.0.1");
  options.log = args.has("--log");
  serve::Server server(model, tokenizers, options);
  HEDDLE_TRY(server.configure(args, start));
  return server.run();
}

} // namespace heddle::rt

const heddle::rt::Command heddle_serve_command = heddle::rt::serveCommand;
