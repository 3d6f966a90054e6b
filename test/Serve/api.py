#!/usr/bin/python3
"""The server's API against the program's own command line, and its errors.

    api.py --heddle BIN [-v]

A text that is served is that of `generate`, whatever the way it is asked for: whole, as a stream, several at once. One line a
failure, then `N passed, N failed`."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from abuse import fuzz
from serving import ROOT, Counts, Server, compile_example


def texts_of(events):
    """The texts of a stream by choice, and how each ended."""
    texts, ends = {}, {}
    for event in events:
        if event == "[DONE]" or "error" in event:
            continue
        for choice in event["choices"]:
            index = choice["index"]
            texts[index] = texts.get(index, "") + choice["text"]
            ends[index] = choice["finish_reason"] or ends.get(index)
    return texts, ends


TEMPLATE = """{% if tools %}Tools: {{ tools | map(attribute="function.name") | join(", ") }}
{% endif %}{% for m in messages %}{{ m.role | capitalize }}: {{ (m.content or "") | trim }}{% for c in m.tool_calls or [] %} {{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}

{% endfor %}{% if add_generation_prompt %}{{ opening | default("Once upon a time") }}{% endif %}"""


def conversations(t, heddle, work):
    """A model with a chat template: its answers are what it says of the rendered text."""
    folder = os.path.join(work, "talker")
    shutil.copytree(os.path.join(ROOT, "examples", "stories"), folder)
    with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
        file.write(TEMPLATE)
    binary = os.path.join(work, "talker.bin")
    subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True)
    path = "/v1/chat/completions"

    def alone(messages, **variables):
        request = json.dumps(dict(variables, messages=messages, add_generation_prompt=True)) + "\n"
        text = json.loads(subprocess.run([heddle, "template", folder, "--json"], input=request, check=True, stdout=subprocess.PIPE, text=True).stdout)["text"]
        out = subprocess.run([binary, "generate", "--text", text, "-n", "20", "--greedy"], check=True, stdout=subprocess.PIPE).stdout.decode()
        return out[len(text):-1]

    with Server(binary) as server:
        talk = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tell me of an old cat."}]
        ask = {"messages": talk, "max_tokens": 20, "temperature": 0}
        status, got = server.post(path, ask)
        said = got["choices"][0]["message"]["content"] if status == 200 else None
        t.check("a conversation", said == alone(talk) and got["object"] == "chat.completion", got)
        parts = [talk[0], {"role": "user", "content": [{"type": "text", "text": "Tell me"}, {"type": "text", "text": "of an old cat."}]}]
        joined = [talk[0], {"role": "user", "content": "Tell me\nof an old cat."}]
        status, got = server.post(path, dict(ask, messages=parts))
        t.check("parts are joined", status == 200 and got["choices"][0]["message"]["content"] == alone(joined), got)
        status, got = server.post(path, dict(ask, chat_template_kwargs={"opening": "The weaver"}))
        t.check("variables", status == 200 and got["choices"][0]["message"]["content"] == alone(talk, opening="The weaver"), got)
        status, events = server.stream(path, ask)
        pieces = [e["choices"][0]["delta"] for e in events[:-1]]
        t.check("its stream", pieces[0].get("role") == "assistant" and "".join(d.get("content", "") for d in pieces) == said and events[-1] == "[DONE]", events[-1])
        status, got = server.post(path, dict(ask, max_tokens=3, logprobs=True, top_logprobs=2))
        content = got["choices"][0]["logprobs"]["content"] if status == 200 else []
        t.check("its probabilities", len(content) == 3 and all(len(c["top_logprobs"]) == 2 and c["top_logprobs"][0]["logprob"] == c["logprob"] for c in content), got)
        # Tools are shown; arguments of calls come as a text of JSON and are an object to the template.
        tools = [{"type": "function", "function": {"name": "weigh", "parameters": {"type": "object"}}}]
        call = lambda arguments: [talk[1], {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "weigh", "arguments": arguments}}]},
                                  {"role": "tool", "tool_call_id": "1", "content": "4 kg"}]
        status, got = server.post(path, dict(ask, messages=call('{"what": "a cat"}'), tools=tools))
        t.check("tools", status == 200 and got["choices"][0]["message"]["content"] == alone(call({"what": "a cat"}), tools=tools), got)
        status, got = server.post(path, dict(ask, tools=tools, tool_choice="none"))
        t.check("no tools", status == 200 and got["choices"][0]["message"]["content"] == said, got)
        for field, value, words in (("tool_choice", "required", "left to the model"), ("tool_choice", {"type": "function", "function": {"name": "weigh"}}, "left to the model"),
                                    ("modalities", ["text", "audio"], "texts"), ("audio", {"voice": "a"}, "texts"), ("response_format", {"type": "json_object"}, "form"),
                                    ("stream_options", {"include_usage": 1}, "include_usage"), ("top_logprobs", 2, "logprobs"), ("top_logprobs", 21, "20"), ("messages", call("{"), "arguments")):
            status, got = server.post(path, dict(ask, **{field: value}))
            t.check("%s: %r" % (field, value), status == 400 and words in got["error"]["message"] and got["error"]["param"] == field, got)
        t.check("modalities: text", server.post(path, dict(ask, max_tokens=1, modalities=["text"], response_format={"type": "text"}))[0] == 200)
        fuzz(t, server, path, {"messages": talk, "max_tokens": 1, "temperature": 0},
             ["model", "messages", "tools", "tool_choice", "chat_template_kwargs", "logprobs", "top_logprobs", "stream_options", "response_format", "modalities", "audio"], 300)
        for what, body, words in (("no messages", {}, "messages"), ("no turns", {"messages": []}, "messages"), ("a turn of no role", {"messages": [{"content": "a"}]}, "role"),
                                  ("a picture", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "pictures"),
                                  ("a number", {"messages": [{"role": "user", "content": 5}]}, "content"),
                                  ("no such template", {"messages": [{"role": "user", "content": "a"}], "chat_template_kwargs": {"messages": 5}}, "")):
            status, got = server.post(path, dict(body, max_tokens=1))
            t.check(what, status == 400 and words in got["error"]["message"], got)
        t.check("stops", server.stop() == 0)
    with Server(binary, "--system", "Be brave.", "--special-in-content", "refuse") as server:
        status, got = server.post(path, dict(ask, messages=talk[1:]))
        t.check("the server's system turn", status == 200 and got["choices"][0]["message"]["content"] == alone([{"role": "system", "content": "Be brave."}] + talk[1:]), got)
        status, got = server.post(path, ask)
        t.check("the conversation's own", got["choices"][0]["message"]["content"] == said, got)
        status, got = server.post(path, dict(ask, messages=[{"role": "user", "content": "a <|endoftext|> b"}]))
        t.check("special tokens are refused", status == 400 and got["error"]["code"] == "special_token" and "<|endoftext|>" in got["error"]["message"], got)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t = Counts(o.v)
    with tempfile.TemporaryDirectory(prefix="heddle-api-") as work:
        heddle = os.path.abspath(o.heddle)
        binary = compile_example(heddle, work)

        def alone(text, *flags):
            out = subprocess.run([binary, "generate", "--text", text, *flags], check=True, stdout=subprocess.PIPE).stdout.decode()
            return out[len(text):-1]

        with Server(binary, "--alias", "tales", "--queue", "2") as server:
            path = "/v1/completions"
            prompt = "Once upon a time"
            whole = alone(prompt, "-n", "40", "--greedy")
            ask = {"model": "gpt2", "prompt": prompt, "max_tokens": 40, "temperature": 0}

            # Whole, stream and the command line agree.
            status, got = server.post(path, ask)
            t.check("greedy", status == 200 and got["choices"][0]["text"] == whole, got)
            t.check("its end", got["choices"][0]["finish_reason"] == "length" and got["object"] == "text_completion", got)
            t.check("its counts", got["usage"] == {"prompt_tokens": 5, "completion_tokens": 40, "total_tokens": 45}, got["usage"])
            t.check("its names", got["model"] == "stories" and got["id"].startswith("cmpl-") and len(got["id"]) == 29, got)
            status, events = server.stream(path, dict(ask, stream_options={"include_usage": True}))
            t.check("stream", texts_of(events) == ({0: whole}, {0: "length"}) and events[-1] == "[DONE]", events[-1])
            t.check("stream's counts", events[-2]["choices"] == [] and events[-2]["usage"]["total_tokens"] == 45, events[-2])
            t.check("pieces", len(events) >= 40, len(events))
            status, events = server.stream(path, ask)
            t.check("no counts unasked", all("usage" not in e for e in events[:-1]))

            # Sampling: the seed decides, alone and in company; choice n draws as line n.
            sampled = alone(prompt, "-n", "30", "--temp", "0.9", "--top-p", "0.95", "--seed", "7")
            ask = {"prompt": prompt, "max_tokens": 30, "temperature": 0.9, "top_p": 0.95, "seed": 7}
            status, got = server.post(path, dict(ask, n=3))
            t.check("sampled", got["choices"][0]["text"] == sampled, got["choices"][0])
            lines = subprocess.run([binary, "generate", "--text", "-", "--lines", "-n", "30", "--temp", "0.9", "--top-p", "0.95", "--seed", "7"],
                                   input=(prompt + "\n") * 3, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
            t.check("choices", [c["text"] for c in got["choices"]] == [line[len(prompt):] for line in lines], got["choices"])
            status, events = server.stream(path, dict(ask, n=3))
            t.check("choices of a stream", texts_of(events)[0] == {i: c["text"] for i, c in enumerate(got["choices"])})
            status, got = server.post(path, dict(ask, prompt=[prompt, "The old cat"]))
            t.check("two prompts", [c["text"] for c in got["choices"]] == [sampled, alone("The old cat", "-n", "30", "--temp", "0.9", "--top-p", "0.95", "--seed", "7")])
            t.check("and their counts", got["usage"]["completion_tokens"] == 60 and [c["index"] for c in got["choices"]] == [0, 1], got["usage"])
            status, head, data = server.request("POST", path, {"prompt": prompt, "max_tokens": 20, "temperature": 1})
            drawn = json.loads(data)["choices"][0]["text"]
            t.check("a drawn seed is told", drawn == alone(prompt, "-n", "20", "--temp", "1", "--seed", head["heddle-seed"]), head)

            # Ids instead of a text, stop texts, the prompt in front.
            said = subprocess.run([heddle, "tokenize", os.path.join(ROOT, "examples", "stories"), "--json"], input=json.dumps({"text": prompt}) + "\n",
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
            ids = json.loads(said)["ids"]
            greedy = {"max_tokens": 40, "temperature": 0}
            status, got = server.post(path, dict(greedy, prompt=ids))
            t.check("ids", got["choices"][0]["text"] == whole, got)
            status, got = server.post(path, dict(greedy, prompt=[ids, ids]))
            t.check("lists of ids", [c["text"] for c in got["choices"]] == [whole, whole], got)
            status, got = server.post(path, dict(greedy, prompt=prompt, stop=[" lived", "never"]))
            cut = whole[:whole.index(" lived")]
            t.check("stop", got["choices"][0]["text"] == cut and got["choices"][0]["finish_reason"] == "stop", got)
            status, events = server.stream(path, dict(greedy, prompt=prompt, stop=" lived"))
            t.check("stop of a stream", texts_of(events) == ({0: cut}, {0: "stop"}), events[-3:])
            status, got = server.post(path, dict(greedy, prompt=prompt, echo=True))
            t.check("echo", got["choices"][0]["text"] == prompt + whole, got)
            status, got = server.post(path, dict(greedy, prompt=prompt, echo=True, logprobs=0, max_tokens=5))
            told = got["choices"][0]["logprobs"]
            t.check("where tokens begin", all(got["choices"][0]["text"][at:].startswith(piece) for piece, at in zip(told["tokens"], told["text_offset"])) and told["text_offset"][:6] == [0, 4, 7, 9, 11, 16], told)

            # Probabilities: of the plain logits, the same whatever rule or temperature; they name the token that was chosen.
            status, got = server.post(path, dict(greedy, prompt=prompt, max_tokens=6, logprobs=3))
            said = got["choices"][0]["logprobs"]
            t.check("logprobs", len(said["tokens"]) == len(said["token_logprobs"]) == len(said["top_logprobs"]) == 6 and
                    "".join(said["tokens"]) == got["choices"][0]["text"], said)
            t.check("the likeliest was chosen", all(abs(max(top.values()) - p) < 1e-9 and p <= 0 for top, p in zip(said["top_logprobs"], said["token_logprobs"])), said)
            status, events = server.stream(path, dict(greedy, prompt=prompt, max_tokens=6, logprobs=3))
            streamed = [x for e in events if e != "[DONE]" and e["choices"] and e["choices"][0]["logprobs"] for x in e["choices"][0]["logprobs"]["token_logprobs"]]
            t.check("logprobs of a stream", streamed == said["token_logprobs"], streamed)
            first = next(iter(said["top_logprobs"][0].items()))
            status, got = server.post(path, dict(prompt=prompt, max_tokens=1, temperature=0, logprobs=3, logit_bias={str(ids[0]): 100}))
            t.check("logit_bias", got["choices"][0]["logprobs"]["tokens"] != said["tokens"][:1] and
                    dict([first]).items() <= got["choices"][0]["logprobs"]["top_logprobs"][0].items(), got["choices"])
            status, got = server.post(path, dict(prompt="the the the", max_tokens=30, temperature=0, frequency_penalty=2, presence_penalty=2))
            t.check("penalties", status == 200 and got["choices"][0]["text"] != alone("the the the", "-n", "30", "--greedy"), got)

            # What fits: without max_tokens the text ends at the model's bound or its end.
            status, got = server.post(path, {"prompt": prompt, "temperature": 0, "ignored_field": 1, "user": "me"})
            t.check("what fits", got["choices"][0]["text"] == alone(prompt, "-n", "256", "--greedy").rstrip("\n"), got["choices"][0]["finish_reason"])
            status, head, _ = server.request("POST", path, {"prompt": prompt, "max_tokens": 1, "user": "me", "store": True})
            t.check("what is ignored is told", head.get("heddle-ignored") == "user, store", head)
            status, got = server.post(path, {"prompt": " cat" * 400, "max_tokens": 4})
            t.check("too long", status == 400 and "256" in got["error"]["message"], got)
            status, got = server.post(path, {"prompt": prompt, "max_tokens": 0})
            t.check("no tokens", status == 200 and got["choices"][0]["text"] == "", got)

            # Errors, each with its field.
            for field, value, param in [("temperature", 3, "temperature"), ("temperature", "0", "temperature"), ("top_p", 1.1, "top_p"), ("n", 0, "n"), ("n", 9, "n"),
                                        ("max_tokens", -2, "max_tokens"), ("max_tokens", 1.5, "max_tokens"), ("stop", [""], "stop"), ("stop", ["a"] * 17, "stop"),
                                        ("stop", "x" * 257, "stop"), ("logit_bias", {"a": 1}, "logit_bias"), ("logit_bias", {"1": 101}, "logit_bias"),
                                        ("logit_bias", {str(i): 0 for i in range(301)}, "logit_bias"), ("seed", 1.5, "seed"), ("stream", "yes", "stream"), ("logprobs", 21, "logprobs"),
                                        ("prompt", 5, "prompt"), ("prompt", [], "prompt"), ("prompt", [1, "a"], "prompt"), ("prompt", [[1], []], "prompt"), ("prompt", [10 ** 6], "prompt"),
                                        ("suffix", "end", "suffix"), ("best_of", 2, "best_of"), ("presence_penalty", 2.5, "presence_penalty"), ("top_k", -2, "top_k")]:
                status, got = server.post(path, {"prompt": prompt, "max_tokens": 1, field: value})
                t.check("%s: %r" % (field, value), status == 400 and got["error"]["param"] == param and got["error"]["type"] == "invalid_request_error", got)
            for body, words in [("", "JSON"), ("[]", "object"), ("{", "JSON"), ('{"prompt":"a","prompt":"b"}', "twice"), ('{"prompt":"\\ud800"}', "surrogate"),
                                ("{}", "missing"), ('{"prompt":"a"} x', "follows"), (b'{"prompt":"\xff"}', "UTF-8"), ("[" * 100000, "deep")]:
                status, _, data = server.request("POST", path, body)
                t.check("body %r" % body[:20], status == 400 and words in json.loads(data)["error"]["message"], data)
            status, got = server.post(path, {"prompt": "a", "model": "gpt-4"})
            t.check("another model", status == 404 and got["error"]["code"] == "model_not_found" and "stories" in got["error"]["message"], got)
            t.check("an alias", server.post(path, {"prompt": "a", "model": "tales", "max_tokens": 1})[0] == 200)
            status, got = server.post("/v1/embeddings", {"input": "a"})
            t.check("no vectors", status == 404 and got["error"]["code"] == "not_served" and path in got["error"]["message"], got)
            status, got = server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}]})
            t.check("no template", status == 400 and got["error"]["code"] == "no_chat_template", got)

            # The other paths.
            t.check("health", server.request("GET", "/health")[2] == b'{"status":"ok"}')
            t.check("models", json.loads(server.request("GET", "/v1/models")[2])["data"][0]["id"] == "stories")
            t.check("model", server.request("GET", "/v1/models/tales")[0] == 200 and server.request("GET", "/v1/models/other")[0] == 404)
            t.check("metrics", server.metric('heddle_tokens_total{kind="new"}') > 100)
            t.check("no such path", server.request("GET", "/v1/nothing")[0] == 404)
            t.check("no such method", server.request("GET", path)[0] == 405 and server.request("DELETE", "/health")[0] == 405)
            t.check("type", server.request("POST", path, '{"prompt":"a"}', {"Content-Type": "text/plain"})[0] == 415)
            status, head, _ = server.request("GET", "/health")
            t.check("fields", head["x-content-type-options"] == "nosniff" and "access-control-allow-origin" not in head, head)
            t.check("stops", server.stop() == 0)
        conversations(t, heddle, work)
        fields = subprocess.run([binary, "serve", "--fields"], check=True, stdout=subprocess.PIPE, text=True).stdout
        t.check("the table of fields", "| `temperature` | completions, chat | a number, 0 to 2 |" in fields, fields)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
