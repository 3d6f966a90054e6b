"""folder_settings.py HEDDLE WORK: what tokenizer_config.json, special_tokens_map.json and added_tokens.json say of the tokenizer.json beside them.

Expected are the ids that transformers' fast tokenizers give; where releases 4 and 5 differ, FolderSettings.cpp says which counts. The file alone stays what the bare
library makes of it. Then texts that are too long: those that generate are never cut, an encoder's are, with a note."""
import copy
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

HEDDLE, WORK = sys.argv[1:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
BYTES = {"a": 0, "b": 1, "c": 2, "<s>": 3, "</s>": 4, "<pad>": 5, "ab": 6, "<hole>": 7}
BOS = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
       "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}}


def token(text, number, special=True):
    return {"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special}


def tokenizer(**more):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [token("<s>", 3), token("</s>", 4)], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": BYTES, "merges": ["a b"]}, **more}


def bert(**normalizer):
    words = {w: i for i, w in enumerate("[UNK] [CLS] [SEP] the The caf\u00e9 cafe".split())}
    return tokenizer(added_tokens=[], normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **normalizer}, pre_tokenizer={"type": "BertPreTokenizer"},
                     model={"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": words})


def folder(name, files):
    home = os.path.join(WORK, name)
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for file, content in files.items():
        with open(os.path.join(home, file), "w", encoding="utf-8") as f:
            json.dump(content, f)
    return home


def ids(where, text, pair=None):
    request = {"text": text, **({} if pair is None else {"pair": pair})}
    said = subprocess.run([HEDDLE, "tokenize", where, "--json"], input=json.dumps(request) + "\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return json.loads(said.stdout)["ids"] if said.returncode == 0 else said.stderr


ROLES = {"bos_token": "<s>", "eos_token": "</s>"}
CASES = {
    "nothing said": (tokenizer(), {}, "ab", [6]),
    "bos": (tokenizer(), {"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": True, **ROLES}, "ab", [3, 6]),
    "bos and eos": (tokenizer(), {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True, **ROLES}, "ab", [3, 6, 4]),
    "bos is usual of this class": (tokenizer(), {"tokenizer_class": "GemmaTokenizer", "add_eos_token": True, **ROLES}, "ab", [3, 6, 4]),
    "bos is not of others": (tokenizer(), {"tokenizer_class": "PreTrainedTokenizerFast", "add_eos_token": True, **ROLES}, "ab", [6, 4]),
    "a template that is switched off": (tokenizer(post_processor=BOS), {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, **ROLES}, "ab", [6]),
    "a template that nobody speaks of": (tokenizer(post_processor=BOS), {"tokenizer_class": "LlamaTokenizer", **ROLES}, "ab", [3, 6]),
    "false takes nothing from other classes": (tokenizer(post_processor=BOS), {"tokenizer_class": "DebertaTokenizer", "add_bos_token": False, **ROLES}, "ab", [3, 6]),
    "a template with other tokens stays": (tokenizer(post_processor={**BOS, "single": [{"SpecialToken": {"id": "<pad>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<pad>": {"id": "<pad>", "ids": [5], "tokens": ["<pad>"]}}}),
                                           {"tokenizer_class": "WhisperTokenizer", "add_bos_token": True, **ROLES}, "ab", [5, 6]),
    "bos without a text": (tokenizer(), {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}, "ab", [6]),
    "a token of added_tokens_decoder": (tokenizer(), {"added_tokens_decoder": {"8": token("<|im_end|>", 8)}}, "a<|im_end|>b", [0, 8, 1]),
    "a role that is a text of the vocabulary": (tokenizer(), {"pad_token": "<pad>"}, "a<pad>b", [0, 5, 1]),
    "extra tokens, as a list": (tokenizer(), {"additional_special_tokens": ["<hole>"]}, "a<hole>b", [0, 7, 1]),
    "extra tokens, by name": (tokenizer(), {"extra_special_tokens": {"image_token": "<hole>"}}, "a<hole>b", [0, 7, 1]),
    "a role that nobody has": (tokenizer(), {"pad_token": "[PAD]"}, "a[PAD]b", [0, 8, 1]),
    "flags of a token": (tokenizer(), {"added_tokens_decoder": {"4": {**token("</s>", 4), "lstrip": True}}}, "ab  </s>", [6, 4]),
    "letters as they are": (bert(), {"tokenizer_class": "BertTokenizer", "do_lower_case": False}, "The caf\u00e9", [4, 5]),
    "small letters": (bert(lowercase=False), {"tokenizer_class": "DistilBertTokenizerFast", "do_lower_case": True}, "The caf\u00e9", [3, 6]),
    "accents kept": (bert(), {"tokenizer_class": "BertTokenizer", "strip_accents": False}, "The caf\u00e9", [3, 5]),
    "the general class changes no normalizer": (bert(), {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": False}, "The caf\u00e9", [3, 6]),
}


def main():
    for name, (file, config, text, want) in CASES.items():
        home = folder("case", {"tokenizer.json": file, "tokenizer_config.json": config})
        got = ids(home, text)
        check(got == want, "%s: %s, expected %s" % (name, got, want))
        alone = folder("alone", {"tokenizer.json": file})
        check(ids(os.path.join(home, "tokenizer.json"), text) == ids(alone, text), "%s: the file alone is the bare library's" % name)
    both = folder("case", {"tokenizer.json": tokenizer(), "tokenizer_config.json": {"add_bos_token": True, "add_eos_token": True}, "special_tokens_map.json": {"bos_token": {"content": "<s>"}, "eos_token": "</s>"}})
    check(ids(both, "ab") == [3, 6, 4] and ids(both, "a", "b") == [3, 0, 4, 3, 1, 4], "texts of special_tokens_map.json, and a pair: %s" % ids(both, "a", "b"))
    check(ids(folder("case", {"tokenizer.json": tokenizer(), "added_tokens.json": {"<x>": 8, "<y>": 9}}), "a<y>b<x>") == [0, 9, 1, 8], "added_tokens.json")
    said = ids(folder("case", {"tokenizer.json": tokenizer(), "tokenizer_config.json": [1]}), "a")
    check("tokenizer_config.json" in said and "no valid JSON object" in said, "a configuration that is no object: %s" % said)
    cut()
    return finish()


def program(example, beside):
    home = os.path.join(WORK, example)
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for file in ("config.json", "model.safetensors"):
        os.symlink(os.path.abspath(os.path.join(EXAMPLES, example, file)), os.path.join(home, file))
    with open(os.path.join(EXAMPLES, example, "tokenizer.json"), encoding="utf-8") as f:
        file = json.load(f)
    file["truncation"] = {"max_length": 3, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}
    for name, content in {"tokenizer.json": file, **beside}.items():
        with open(os.path.join(home, name), "w", encoding="utf-8") as f:
            json.dump(content, f)
    subprocess.run([HEDDLE, "compile", home, "-o", os.path.join(home, "model"), *cached.quick(HEDDLE)], check=True, stderr=subprocess.PIPE)
    return lambda *words: subprocess.run([os.path.join(home, "model"), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def cut():
    """Texts that generate, and those of encoders."""
    teller = program("stories", {})
    said = teller("Once upon a time", "-n", "8", "--greedy")
    check(said.returncode == 0 and said.stdout.startswith("Once upon a time, in the village of"), "a text that generates is whole: %s %s" % (said.stdout, said.stderr))
    text = "a good story of a clever weaver and the old chair in the village"
    for name, beside, most in (("sentence_bert_config.json", {"sentence_bert_config.json": {"max_seq_length": 6, "do_lower_case": False}, "tokenizer_config.json": {"model_max_length": 9}}, 6),
                               ("model_max_length", {"tokenizer_config.json": {"model_max_length": 9}}, 9), ("no bound but the model's", {"tokenizer_config.json": {"model_max_length": 1e30}}, None)):
        judge = program("sentiment", beside)
        said, strict = judge(text), judge(text, "--no-truncate")
        note = "and this model takes %s of a text" % most
        check(said.returncode == 0 and (note in said.stderr if most else said.stderr == ""), "%s: %d, %s" % (name, said.returncode, said.stderr))
        check(strict.returncode == (1 if most else 0) and (not most or note in strict.stderr), "%s, --no-truncate: %d, %s" % (name, strict.returncode, strict.stderr))
        check(judge("a story").stderr == "", "%s: a short text" % name)


if __name__ == "__main__":
    sys.exit(main())
