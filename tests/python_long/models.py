# SPDX-License-Identifier: GPL-3.0-or-later
"""Small random models of transformers, with what reads their inputs, and the heads that they have.

Weights are drawn ten times as large as usual: attention is then far from uniform, so that a wrong scale, a missing
rotation or another head shows. `expected` finds the heads by other ways than the attention interface: weights as the
model returns them, outputs as they reach the projection after the attention.
"""
import contextlib
import functools
import json
import os
import re
import sys
import wave

import numpy as np
import torch
import transformers

WORDS, WIDTH, SPREAD = 99, 48, 0.2
COMMON = dict(hidden_size=WIDTH, num_hidden_layers=3, intermediate_size=64, initializer_range=SPREAD)
LLAMA = dict(COMMON, vocab_size=WORDS, num_attention_heads=6, num_key_value_heads=2, head_dim=8, bos_token_id=1,
             eos_token_id=2, pad_token_id=0)


def reason(error):
    """What an error says, without the version of transformers and what it gives an attention."""
    return re.sub(r"(transformers) [\d.]+", r"\1", str(error).partition("; it is also given ")[0])


def bert(**options):
    config = transformers.BertConfig(vocab_size=WORDS, num_attention_heads=4, **COMMON, **options)
    return _random(transformers.BertModel, config)


def llama(kind=transformers.LlamaModel, **options):
    return _random(kind, transformers.LlamaConfig(**{**LLAMA, **options}))


def vit(**options):
    config = transformers.ViTConfig(image_size=32, patch_size=8, num_attention_heads=4, **COMMON, **options)
    return _random(transformers.ViTModel, config)


def whisper(**options):
    config = transformers.WhisperConfig(
        vocab_size=WORDS, d_model=WIDTH, encoder_layers=3, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=50, num_mel_bins=8,
        init_std=SPREAD, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, **options)
    return _random(transformers.WhisperModel, config)


def other(name, config_name, **options):
    """Of another architecture with Llama's configuration."""
    return _random(getattr(transformers, name), getattr(transformers, config_name)(**{**LLAMA, **options}))


def modernbert(keys=16, **options):
    """Bidirectional; layers 1 and 2 see so many keys around."""
    return other("ModernBertModel", "ModernBertConfig", local_attention=keys, cls_token_id=3, sep_token_id=4, **options)


def llama4(chunk=16):
    return other("Llama4TextModel", "Llama4TextConfig", attention_chunk_size=chunk, num_local_experts=2,
                 intermediate_size_mlp=64, moe_layers=[])


def gemma3n():
    """Its last two layers use keys and values of the two before them."""
    return other("Gemma3nTextModel", "Gemma3nTextConfig", num_hidden_layers=4, num_kv_shared_layers=2,
                 layer_types=["full_attention"] * 4,
                 vocab_size_per_layer_input=WORDS, hidden_size_per_layer_input=8, laurel_rank=4,
                 activation_sparsity_pattern=[0.0] * 4,
                 altup_num_inputs=2)


def git():
    """A text alone does not reach the vision model."""
    vision = dict(COMMON, num_attention_heads=4, image_size=16, patch_size=4)
    config = transformers.GitConfig(vocab_size=WORDS, num_attention_heads=4, bos_token_id=1, eos_token_id=2,
                                    vision_config=vision, **COMMON)
    return _random(transformers.GitModel, config)


def blip2_vision():
    """Its attention is given the mask by name."""
    config = transformers.Blip2VisionConfig(image_size=32, patch_size=8, num_attention_heads=4, **COMMON)
    return _random(transformers.Blip2VisionModel, config)


def _random(kind, config):
    torch.manual_seed(1)
    return kind(config).eval()


def mamba():
    """A model without attention."""
    config = transformers.MambaConfig(vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=2)
    return _random(transformers.MambaModel, config)


@contextlib.contextmanager
def llama_attends(change):
    """change(own, module, q, k, v, mask, **options) in the place of Llama's eager attention, own."""
    file = sys.modules[transformers.LlamaModel.__module__]
    own = file.eager_attention_forward
    file.eager_attention_forward = functools.partial(change, own)
    try:
        yield llama(transformers.LlamaForCausalLM, attn_implementation="eager")
    finally:
        file.eager_attention_forward = own


def with_queries(change):
    return llama_attends(lambda own, module, q, *rest, **options: own(module, change(q), *rest, **options))


@contextlib.contextmanager
def coarse_products():
    """Products of float32 in bfloat16, on CPUs that have instructions for it."""
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


def words(count=40, batch=1):
    return torch.randint(5, WORDS, (batch, count), generator=torch.Generator().manual_seed(2))


def inputs(name):
    """What the model of this name takes."""
    generator = torch.Generator().manual_seed(3)
    return {"bert": lambda: {"input_ids": words()}, "llama": lambda: {"input_ids": words()},
            "vit": lambda: {"pixel_values": torch.randn(1, 3, 32, 32, generator=generator)},
            "whisper": lambda: {"input_features": torch.randn(1, 8, 100, generator=generator)}}[name]()


PROJECTIONS = {"bert": "encoder.layer.{}.attention.output.dense", "llama": "layers.{}.self_attn.o_proj",
               "vit": "layers.{}.attention.o_proj", "whisper": "layers.{}.self_attn.out_proj"}


def expected(name, model, given, layer):
    """(weights (heads, n, n), outputs (n, heads dv)) of a layer, of the model with its eager attention."""
    caught = []
    projection = model.get_submodule(PROJECTIONS[name].format(layer))
    hook = projection.register_forward_pre_hook(lambda _, arguments: caught.append(arguments[0]))
    model.set_attn_implementation("eager")
    with torch.no_grad():
        weights = model(**given, output_attentions=True).attentions[layer]
    hook.remove()
    return weights[0].double().numpy(), caught[0][0].double().numpy()


def save(folder):
    """Folders with the models, and files of inputs; the names of these."""
    for name, make in (("bert", bert), ("llama", llama), ("vit", vit), ("whisper", whisper)):
        make().save_pretrained(os.path.join(folder, name))
    _save_readers(folder)
    return _save_inputs(folder)


def _save_readers(folder):
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"word{i}" for i in range(WORDS - 5)]
    with open(os.path.join(folder, "vocab.txt"), "w") as file:
        file.write("\n".join(vocabulary) + "\n")
    pieces = transformers.BertTokenizerFast(vocab=os.path.join(folder, "vocab.txt"))
    pieces.save_pretrained(os.path.join(folder, "bert"))
    from tokenizers import Tokenizer, models, pre_tokenizers
    plain = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain).save_pretrained(os.path.join(folder, "llama"))
    spectra = transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    spectra.save_pretrained(os.path.join(folder, "whisper"))
    reader = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}, "do_resize": True,
              "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    with open(os.path.join(folder, "vit", "preprocessor_config.json"), "w") as file:
        json.dump(reader, file)


def _save_inputs(folder):
    from PIL import Image
    rng = np.random.default_rng(4)
    names = {"text": ["one.txt", "two.txt"], "image": ["one.png", "two.png"], "audio": ["one.wav", "two.wav"]}
    for one in names["text"]:
        with open(os.path.join(folder, one), "w") as file:
            file.write(" ".join(f"word{i}" for i in rng.integers(0, WORDS - 5, 60)))
    for one in names["image"]:
        Image.fromarray(rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)).save(os.path.join(folder, one))
    for one, rate in zip(names["audio"], (16000, 8000)):
        with wave.open(os.path.join(folder, one), "wb") as file:
            file.setnchannels(1), file.setsampwidth(2), file.setframerate(rate)
            file.writeframes(rng.integers(-9999, 9999, rate // 2).astype("<i2").tobytes())
    return names
