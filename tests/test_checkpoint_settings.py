"""From `config.json` to the book's configuration: what is known, and what is refused."""

from __future__ import annotations

import pytest
from transformers import GPT2Config, LlamaConfig

from transformer_book.weights.checkpoint_settings import FAMILIES, LACKING, config_from_checkpoint
from transformer_book.weights.gpt2 import config_from_gpt2

SPECIAL = {"bos_token_id": 0, "eos_token_id": 0}
GPT2 = GPT2Config(vocab_size=9, **SPECIAL).to_dict()
LLAMA = LlamaConfig(vocab_size=9, **SPECIAL).to_dict()
# As published with the first weights, in 2019.
FIRST = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 50256,
    "embd_pdrop": 0.1,
    "eos_token_id": 50256,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "resid_pdrop": 0.1,
    "summary_activation": None,
    "summary_first_dropout": 0.1,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "vocab_size": 50257,
}


def test_gpt2_as_it_was_published():
    config = config_from_checkpoint(FIRST)
    assert (config.vocab_size, config.d_model, config.n_heads, config.n_layers) == (
        50257,
        768,
        12,
        12,
    )
    assert (config.d_ff, config.max_length, config.norm_eps) == (3072, 512, 1e-5)
    assert (config.positions, config.activation, config.norm) == ("learned", "gelu_tanh", "layer")
    assert config.bias and config.tie_embeddings and not config.scale_embeddings
    assert config.padding is None


def test_todays_defaults():
    assert config_from_checkpoint(GPT2).d_ff == 4 * 768
    assert config_from_checkpoint(GPT2 | {"n_inner": 100}).d_ff == 100
    assert config_from_checkpoint(LLAMA).n_layers == 32


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("gelu", "gelu"), ("relu", "relu"), ("gelu_pytorch_tanh", "gelu_tanh")],
)
def test_activations(theirs, ours):
    assert config_from_gpt2(GPT2 | {"activation_function": theirs}).activation == ours


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            GPT2 | {"activation_function": "silu"},
            "has activation_function = 'silu', but the book's",
        ),
        (GPT2 | {"scale_attn_weights": False}, "has scale_attn_weights = False"),
        (
            GPT2 | {"scale_attn_by_inverse_layer_idx": True},
            "scale_attn_by_inverse_layer_idx = True",
        ),
        (GPT2 | {"add_cross_attention": True}, "has add_cross_attention = True"),
        (GPT2 | {"n_positions": 33}, "needs an even number"),
        (GPT2 | {"n_ctx": 512}, "n_ctx that is not its n_positions"),
        (GPT2 | {"num_experts": 8}, "has a setting 'num_experts' = 8"),
        (GPT2 | {"n_head": 5}, "n_heads"),
        (GPT2 | {"n_embd": "wide"}, "."),
        ({k: v for k, v in GPT2.items() if k != "n_head"}, "lack 'n_head'"),
        (LLAMA | {"num_experts": 8}, "has a setting 'num_experts' = 8"),
        (LLAMA | {"sliding_window": 64}, "has a setting 'sliding_window' = 64"),
        (LLAMA | {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "stretches its rotary"),
        (LLAMA | {"attention_bias": True}, "has attention_bias = True"),
        (LLAMA | {"hidden_act": "gelu"}, "has hidden_act = 'gelu'"),
        (LLAMA | {"rope_interleaved": True}, "pairs neighbours in its rotary positions"),
        ({"model_type": "bert"}, "of the kind 'bert'; the book's model can be gpt2 or llama"),
        ({"hidden_size": 3}, "model_type is missing"),
        ([], "not a JSON object"),
    ],
)
def test_what_the_book_has_no_part_for_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence) as raised:
        config_from_checkpoint(settings)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("family", LACKING)
def test_the_lacking_part_is_named(family):
    assert family not in FAMILIES
    with pytest.raises(
        ValueError, match=f"of the kind '{family}': that has .+; the book's model can"
    ):
        config_from_checkpoint({"model_type": family})


# What `transformers` writes, in any version, for any task, and what changes no function.
HARMLESS = {
    "_name_or_path": "somebody/something",
    "_attn_implementation_autoset": True,
    "architectures": ["AnyClass"],
    "auto_map": {"AutoModel": "file.Class"},
    "bos_token_id": 1,
    "decoder_start_token_id": 3,
    "tokenizer_class": "AnyTokenizer",
    "torch_dtype": "bfloat16",
    "transformers_version": "6.0.0",
    "adapter_version": "1",
    "id2label": {"0": "good"},
    "num_labels": 2,
    "classifier_dropout": 0.1,
    "problem_type": "regression",
    "output_scores": True,
    "return_dict": True,
    "use_cache": False,
    "initializer_range": 0.041,
    "pretraining_tp": 2,
    "gradient_checkpointing": True,
}


@pytest.mark.parametrize("settings", (GPT2, LLAMA), ids=("gpt2", "llama"))
def test_harmless_settings_are_known_as_a_kind(settings):
    assert config_from_checkpoint(settings | HARMLESS) == config_from_checkpoint(settings)
    # Their likes that change the function are not.
    for name, value in {
        "is_encoder_decoder": True,
        "quantization_config": {"bits": 4},
        "sliding_window": 64,
        "use_sliding_window": True,
        "logit_scale": 0.1,
    }.items():
        with pytest.raises(ValueError, match=name):
            config_from_checkpoint(settings | {name: value})


@pytest.mark.parametrize("value", (10**400, True, -1.0))
def test_a_base_that_is_no_number(value):
    with pytest.raises(ValueError, match=r"rotary_base is .*, but it must be a number above 0"):
        config_from_checkpoint(LLAMA | {"rope_theta": value, "rope_parameters": None})
