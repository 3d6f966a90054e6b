"""`heddle mask` needs no weights: `mask_without_weights.py HEDDLE FOLDER`.

The shapes that a family leaves to the file are made up: of convolutions (vit, whisper), two towers (clip), grouped projections
(falcon), biases that are given (bart). Where a test has weights, both say the same. One line a failure, then `N passed, N failed`."""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SPOIL = os.path.join(HERE, os.pardir, "support", "spoil.py")
BASES = ["vit", "t5"]
CONFIGS = [
    {"activation_dropout": 0.0, "activation_function": "gelu", "architectures": ["BartForConditionalGeneration"], "attention_dropout": 0.0, "bos_token_id": 0, "classifier_dropout": 0.0, "d_model": 48, "decoder_attention_heads": 4, "decoder_ffn_dim": 100, "decoder_layerdrop": 0.0, "decoder_layers": 2, "decoder_start_token_id": 2, "dropout": 0.1, "encoder_attention_heads": 4, "encoder_ffn_dim": 120, "encoder_layerdrop": 0.0, "encoder_layers": 2, "eos_token_id": 2, "forced_eos_token_id": None, "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "init_std": 0.02, "is_encoder_decoder": True, "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}, "max_position_embeddings": 64, "model_type": "bart", "num_hidden_layers": 2, "pad_token_id": 1, "scale_embedding": False, "use_cache": True, "vocab_size": 135},
    {"alibi": False, "architectures": ["FalconForCausalLM"], "attention_dropout": 0.0, "bias": False, "bos_token_id": 1, "eos_token_id": 2, "hidden_dropout": 0.0, "hidden_size": 48, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "max_position_embeddings": 2048, "model_type": "falcon", "multi_query": True, "new_decoder_architecture": False, "num_attention_heads": 4, "num_hidden_layers": 2, "num_kv_heads": 4, "pad_token_id": 0, "parallel_attn": True, "rope_scaling": None, "rope_theta": 10000.0, "use_cache": True, "vocab_size": 117},
    {"activation_dropout": 0.0, "activation_function": "gelu", "apply_spec_augment": False, "architectures": ["WhisperForConditionalGeneration"], "attention_dropout": 0.0, "begin_suppress_tokens": None, "bos_token_id": 1, "classifier_proj_size": 256, "d_model": 48, "decoder_attention_heads": 4, "decoder_ffn_dim": 100, "decoder_layerdrop": 0.0, "decoder_layers": 2, "decoder_start_token_id": 3, "dropout": 0.0, "encoder_attention_heads": 4, "encoder_ffn_dim": 100, "encoder_layerdrop": 0.0, "encoder_layers": 2, "eos_token_id": 2, "init_std": 0.02, "is_encoder_decoder": True, "mask_feature_length": 10, "mask_feature_min_masks": 0, "mask_feature_prob": 0.0, "mask_time_length": 10, "mask_time_min_masks": 2, "mask_time_prob": 0.05, "max_source_positions": 37, "max_target_positions": 40, "median_filter_width": 7, "model_type": "whisper", "num_hidden_layers": 2, "num_mel_bins": 20, "pad_token_id": 0, "scale_embedding": False, "use_cache": True, "use_weighted_layer_sum": False, "vocab_size": 131},
    {"architectures": ["CLIPModel"], "initializer_factor": 1.0, "logit_scale_init_value": 1.3, "model_type": "clip", "projection_dim": 32, "text_config": {"bos_token_id": 0, "eos_token_id": 2, "hidden_size": 48, "intermediate_size": 90, "max_position_embeddings": 24, "model_type": "clip_text_model", "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 113}, "vision_config": {"hidden_size": 60, "image_size": 24, "intermediate_size": 100, "model_type": "clip_vision_model", "num_attention_heads": 5, "num_hidden_layers": 2, "patch_size": 6}}]


def mask(heddle, folder):
    done = subprocess.run([heddle, "mask", "model", "--json"], cwd=folder, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else "exit %d: %s" % (done.returncode, done.stderr)


def main():
    heddle, scratch = sys.argv[1:]
    wrong = 0
    for case in BASES + CONFIGS:
        name = case if isinstance(case, str) else case["model_type"]
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(os.path.join(scratch, "model"))
        expected = None
        if isinstance(case, str):
            with open(os.path.join(scratch, "base"), "w", encoding="utf-8") as f:
                f.write("BASE: %s\n" % name)
            subprocess.run([sys.executable, SPOIL, os.path.join(scratch, "base"), os.path.join(scratch, "model")], check=True)
            expected = mask(heddle, scratch)
            os.remove(os.path.join(scratch, "model", "model.safetensors"))
        else:
            with open(os.path.join(scratch, "model", "config.json"), "w", encoding="utf-8") as f:
                json.dump(case, f)
        said = mask(heddle, scratch)
        if not said.startswith("{") or said != (expected or said):
            wrong += 1
            print("FAIL %s: %s" % (name, said[:300]))
    print("%d passed, %d failed" % (len(BASES) + len(CONFIGS) - wrong, wrong))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
