"""preprocessor_config.json as save_pretrained writes it: preprocessor.py HEDDLE ROOT FOLDER.

Each processor's file with all of its keys at their published defaults, by the older class, the one of tensors ("Fast") and in the spellings
that older releases wrote; what is switched off stands there all the same. Beside a model of 32 by 32 pixels, so sizes are 32."""
import json
import os
import re
import subprocess
import sys

HEDDLE, ROOT, WORK = sys.argv[1:4]
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

SIDE = 32
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
BOTH, SHORTER = {"height": SIDE, "width": SIDE}, {"shortest_edge": SIDE}
# What the older classes keep of themselves, and what every class of tensors has, set or not.
STEPS = {"do_resize": True, "do_rescale": True, "rescale_factor": 0.00392156862745098, "do_normalize": True}
TENSORS = {"do_resize": True, "size": BOTH, "default_to_square": True, "resample": 2, "do_center_crop": None, "crop_size": None, "do_rescale": True, "rescale_factor": 0.00392156862745098,
           "do_normalize": True, "do_convert_rgb": None, "return_tensors": None, "data_format": "channels_first", "input_data_format": None, "device": None, "disable_grouping": None,
           "do_pad": None, "pad_size": None, "image_seq_length": None, "processor_class": None}
# What 4.38 to 4.40 wrote by mistake.
ARGUMENTS = ["images", "do_resize", "size", "resample", "do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std", "return_tensors", "data_format", "input_data_format"]

PICTURES = {
    "ViTImageProcessor": {**STEPS, **HALF, "size": BOTH, "resample": 2, "do_convert_rgb": None},
    "ViTImageProcessorFast": {**TENSORS, **HALF},
    "ViTFeatureExtractor": {"do_resize": True, "size": SIDE, "resample": 2, "do_normalize": True, **HALF},
    "DeiTImageProcessor": {**STEPS, **IMAGENET, "size": BOTH, "resample": 3, "do_center_crop": True, "crop_size": BOTH},
    "DeiTImageProcessorFast": {**TENSORS, **IMAGENET, "resample": 3, "do_center_crop": True, "crop_size": BOTH},
    "DeiTFeatureExtractor": {"do_resize": True, "size": SIDE, "resample": 3, "do_center_crop": True, "crop_size": SIDE, "do_normalize": True, **IMAGENET},
    "CLIPImageProcessor": {**STEPS, **CLIP, "size": SHORTER, "resample": 3, "do_center_crop": True, "crop_size": BOTH, "do_convert_rgb": True},
    "CLIPImageProcessorFast": {**TENSORS, **CLIP, "size": SHORTER, "default_to_square": False, "resample": 3, "do_center_crop": True, "crop_size": BOTH, "do_convert_rgb": True},
    "CLIPFeatureExtractor": {"do_resize": True, "size": SIDE, "resample": 3, "do_center_crop": True, "crop_size": SIDE, "do_normalize": True, **CLIP, "do_convert_rgb": True},
    "BlipImageProcessor": {**STEPS, **CLIP, "size": BOTH, "resample": 3, "do_convert_rgb": True},
    "BlipImageProcessorFast": {**TENSORS, **CLIP, "resample": 3, "do_convert_rgb": True},
    "ViltImageProcessor": {**STEPS, **HALF, "size": SHORTER, "size_divisor": 32, "resample": 3, "do_pad": True},
    "ViltImageProcessorFast": {**TENSORS, **HALF, "size": SHORTER, "default_to_square": False, "size_divisor": 32, "resample": 3, "do_pad": True, "model_input_names": None},
    "BitImageProcessor": {**STEPS, **IMAGENET, "size": SHORTER, "resample": 3, "do_center_crop": True, "crop_size": BOTH, "do_convert_rgb": True},
    "BitImageProcessorFast": {**TENSORS, **CLIP, "size": SHORTER, "default_to_square": False, "resample": 3, "do_center_crop": True, "crop_size": BOTH, "do_convert_rgb": True},
    "SiglipImageProcessor": {**STEPS, **HALF, "size": BOTH, "resample": 3, "do_convert_rgb": None},
    "SiglipImageProcessorFast": {**TENSORS, **HALF, "resample": 3},
    "BeitImageProcessor": {**STEPS, **HALF, "size": BOTH, "resample": 3, "do_center_crop": True, "crop_size": BOTH, "do_reduce_labels": False},
    "ViltFeatureExtractor": {"do_resize": True, "size": SIDE, "size_divisor": 32, "resample": 3, "do_normalize": True, **HALF},
}
SPEECH = {"feature_size": 1, "sampling_rate": 16000, "padding_value": 0.0, "padding_side": "right", "return_attention_mask": True}
SOUNDS = {
    "Wav2Vec2FeatureExtractor": {**SPEECH, "do_normalize": True, "return_attention_mask": False},
    "WhisperFeatureExtractor": {**SPEECH, "feature_size": 80, "hop_length": 160, "chunk_length": 30, "n_fft": 400, "n_samples": 480000, "nb_max_frames": 3000, "dither": 0.0, "return_attention_mask": False},
    "ASTFeatureExtractor": {**SPEECH, "do_normalize": True, "max_length": 1024, "mean": -4.2677393, "num_mel_bins": 128, "std": 4.5689974, "return_attention_mask": False},
    "Speech2TextFeatureExtractor": {**SPEECH, "feature_size": 80, "num_mel_bins": 80, "do_ceptral_normalize": True, "normalize_means": True, "normalize_vars": True, "dither": 0.0},
    "SeamlessM4TFeatureExtractor": {**SPEECH, "feature_size": 80, "num_mel_bins": 80, "stride": 2},
}


def heddle(*words):
    return subprocess.run([HEDDLE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def write(content):
    with open(os.path.join(WORK, "preprocessor_config.json"), "w", encoding="utf-8") as f:
        json.dump(content, f, indent=2, sort_keys=True)


def accepted(what, content):
    write(content)
    r = heddle("check", WORK)
    check(r.returncode == 0, "%s: exit status %d, %s" % (what, r.returncode, r.stderr[:300]))


def picture(content):
    """what the module says of pictures"""
    write(content)
    r = heddle("compile", WORK, "--emit=model")
    check(r.returncode == 0, "%r: exit status %d, %s" % (content, r.returncode, r.stderr[:300]))
    found = re.search(r"model\.picture = \{([^}]*)\}", r.stdout)
    return found.group(1) if found else ""


def main():
    os.makedirs(WORK, exist_ok=True)
    shapes = os.path.join(ROOT, "examples", "shapes")
    for name in ("config.json", "model.safetensors"):
        if not os.path.lexists(os.path.join(WORK, name)):
            os.symlink(os.path.join(shapes, name), os.path.join(WORK, name))
    for name, keys in PICTURES.items():
        kind = "feature_extractor_type" if name.endswith("FeatureExtractor") else "image_processor_type"
        full = {kind: name, "processor_class": None, **keys}
        accepted(name, full)
        # Nothing goes out of the file because it is switched off.
        steps = [k for k in full if k.startswith("do_") and k != "do_resize"]
        accepted(name + ", all off but the size", {**full, **{k: False for k in steps}})
        accepted(name + ", _valid_processor_keys", {**full, "_valid_processor_keys": ARGUMENTS, "processor_class": name[:4] + "Processor", "_processor_class": None})
        off = {**full, "do_resize": False, "do_center_crop": False}
        text = picture(off)
        check("size" not in text and "shortest" not in text and "resample" not in text and "crop" not in text, "%s, do_resize false: %s" % (name, text))
    for name, keys in SOUNDS.items():
        accepted(name, {"feature_extractor_type": name, "processor_class": name.replace("FeatureExtractor", "Processor"), **keys})
        accepted(name + ", filters", {"feature_extractor_type": name, **keys, **({} if name.startswith("Wav") else {"mel_filters": [[0.0, 0.1]], "window": [0.5]})})
    vit = {"image_processor_type": "ViTImageProcessor", **PICTURES["ViTImageProcessor"]}
    text = picture(vit)
    check("size = [32, 32]" in text and "resample = 2" in text, "ViT: " + text)
    check(picture({**vit, "size": [SIDE, SIDE]}) == text and picture({**vit, "size": {**BOTH, "shortest_edge": None, "longest_edge": None}}) == text, "a size as a list, and with members that are null")
    # Release 5 keeps it as a member of processor_config.json, which counts; older files of that name have it at their top, or nothing.
    def beside(content):
        with open(os.path.join(WORK, "processor_config.json"), "w", encoding="utf-8") as f:
            json.dump(content, f, indent=2)
    os.remove(os.path.join(WORK, "preprocessor_config.json"))
    for what, content in (("a member", {"image_processor": vit, "processor_class": "ViltProcessor"}), ("the top", {**vit, "processor_class": "ViltProcessor"}),
                          ("beside another", {"image_processor": vit, "feature_extractor": {"feature_extractor_type": "WhisperFeatureExtractor", **SOUNDS["WhisperFeatureExtractor"]}})):
        beside(content)
        r = heddle("compile", WORK, "--emit=model")
        check(r.returncode == 0 and "model.picture = {" + text + "}" in r.stdout, "processor_config.json, %s: %d, %s" % (what, r.returncode, r.stderr[:300]))
    beside({"image_processor": {**vit, "size": {"height": -1, "width": 3}}})
    r = heddle("check", WORK)
    check(r.returncode == 1 and "processor_config.json.image_processor.size" in r.stderr and "processor_config.json:" in r.stderr, "a wrong member: %d, %s" % (r.returncode, r.stderr[:300]))
    beside({"processor_class": "ViltProcessor"})
    check(picture(vit) == text, "preprocessor_config.json beside one that says nothing")
    os.remove(os.path.join(WORK, "processor_config.json"))
    # What is wrong stays wrong, also where it would not be used.
    for what, content, says in (("a misspelt key", {**vit, "do_resise": True}, "do_resize"), ("no size", {**vit, "do_resize": False, "size": {"height": -1, "width": 3}}, "size"),
                                ("three sides", {**vit, "size": [1, 2, 3]}, "size")):
        write(content)
        r = heddle("check", WORK)
        check(r.returncode == 1 and says in r.stderr and "preprocessor_config.json" in r.stderr, "%s: %d, %s" % (what, r.returncode, r.stderr[:300]))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
