"""Where known mistakes were found in the wild: one public thread for each, as read in 2026.

Most were mended long ago, many by the very people who made them: which is why they can be shown.
"""

from __future__ import annotations

GITHUB = "https://github.com/"

# Component and mistake → title of the thread, and its address behind github.com.
THREADS: dict[tuple[str, str], tuple[str, str]] = {
    # Chapters 2 to 5
    ("training_words", "vocabulary built on test data"): (
        "Why use training, validation and test set to build vocabulary in build_data.py?",
        "guillaumegenthial/sequence_tagging/issues/94",
    ),
    ("training_words", "vocabulary built on training and test"): (
        "Why we build tokenizer using both train and test set?",
        "songyouwei/ABSA-PyTorch/issues/190",
    ),
    ("training_words", "vocabulary built on training and validation"): (
        "Major Concern regarding Test/Val data",
        "keras-team/keras/issues/7447",
    ),
    ("shift", "target not shifted"): (
        "Fix transformer training",
        "Project-MONAI/GenerativeModels/issues/314",
    ),
    ("embedding", "embedding not scaled"): (
        "Embedding scaling is tied to positional encoding for Transformer models",
        "OpenNMT/OpenNMT-py/issues/1722",
    ),
    ("embedding", "embedding divided by the root"): (
        "Transformer tutorial multiplying with sqrt(d_model) (asks to divide)",
        "pytorch/tutorials/issues/2849",
    ),
    ("sinusoids", "doubled exponent per column"): (
        "Positional Encoding",
        "jadore801120/attention-is-all-you-need-pytorch/issues/32",
    ),
    ("sinusoids", "integer frequencies"): (
        "model/embedding/position.py",
        "codertimo/BERT-pytorch/issues/18",
    ),
    ("sinusoids", "1000 in place of 10000"): (
        "Position Encoding",
        "maxjcohen/transformer/issues/62",
    ),
    ("sinusoids", "exponent per column"): (
        "Position Encoding",
        "maxjcohen/transformer/issues/62",
    ),
    ("add_positions", "batch axis taken for position"): (
        "Question about positional encoding",
        "songyangco/GETNext/issues/2",
    ),
    ("add_positions", "one row for all positions"): (
        "Critical bug in the implementation of the PositionalEncoding class",
        "DiffPoseTalk/DiffPoseTalk/issues/20",
    ),
    # Chapters 7 to 9
    ("softmax", "softmax without dim"): (
        "UserWarning: Implicit dimension choice for softmax has been deprecated.",
        "linnaeushuang/pensieve-pytorch/issues/4",
    ),
    ("scaled_dot_product_attention", "scores not scaled"): (
        "Fix scaling in attention computation",
        "PAIR-code/tiny-transformers/issues/71",
    ),
    ("scaled_dot_product_attention", "scores multiplied by the root of d_k"): (
        "Bug in MultiHeadAttention",
        "esceptico/perceiver-io/issues/9",
    ),
    ("scaled_dot_product_attention", "softmax over the queries"): (
        "Bug in SA for DDPM UNet?",
        "labmlai/annotated_deep_learning_paper_implementations/issues/146",
    ),
    ("scaled_dot_product_attention", "softmax over the first axis"): (
        "Attention's softmax dimension is wrong?",
        "PetrochukM/PyTorch-NLP/issues/2",
    ),
    ("scaled_dot_product_attention", "mask inverted"): (
        "Bug in Ch03 - Bonus02 - PyTorch's scaled dot product attention without FlashAttention",
        "rasbt/LLMs-from-scratch/issues/1061",
    ),
    ("scaled_dot_product_attention", "rows of minus infinity"): (
        "`scaled_dot_product_attention` produces `nan`s with boolean `attn_mask` with zero rows.",
        "pytorch/pytorch/issues/103963",
    ),
    ("padding_mask", "query rows masked"): (
        "nn.MultiheadAttention causes gradients to become NaN under some use cases",
        "pytorch/pytorch/issues/41508",
    ),
    ("causal_mask", "causal mask with the opposite meaning"): (
        "translate.py not consistent",
        "hkproj/pytorch-transformer/issues/19",
    ),
    ("causal_mask", "a mask of numbers"): (
        "`attn_mask` in nn.MultiheadAttention is additive",
        "pytorch/pytorch/issues/21518",
    ),
    ("split_heads", "heads split with view, not transposed"): (
        "MultiHeadAttention bug when num_heads is greater than 1",
        "reczoo/FuxiCTR/issues/30",
    ),
    ("multi_head_attention", "several heads split with view, not transposed"): (
        "MultiHeadAttention bug when num_heads is greater than 1",
        "reczoo/FuxiCTR/issues/30",
    ),
    ("merge_heads", "heads merged without permuting back"): (
        "Fix several bugs, one critical",
        "jsbaan/transformer-from-scratch/pull/6",
    ),
    ("multi_head_attention", "several heads merged without permuting back"): (
        "Fix several bugs, one critical",
        "jsbaan/transformer-from-scratch/pull/6",
    ),
    ("multi_head_attention", "scores scaled by d_model"): (
        "WS04: Attention uses the wrong scaling dimension",
        "Graylab/DL4Proteins-notebooks/issues/12",
    ),
    ("multi_head_attention", "projected keys and values exchanged"): (
        "Returned q,k,v but assigned q,v,k? Is there any difference?",
        "jsbaan/transformer-from-scratch/issues/1",
    ),
    # Chapters 10 to 14
    ("layer_norm", "layer norm over two axes"): (
        "Fix layernorm bug in baseline transformer",
        "Qualcomm-AI-research/geometric-algebra-transformer/pull/8",
    ),
    ("layer_norm", "layer norm over the positions"): (
        "Correct LayerNormalization",
        "jadore801120/attention-is-all-you-need-pytorch/pull/17",
    ),
    ("layer_norm", "variance with Bessel's correction"): (
        "Is there any reason we used a different LayerNorm implementation?",
        "harvardnlp/annotated-transformer/issues/122",
    ),
    ("layer_norm", "ε outside the root"): (
        "The LayerNorm implementation",
        "codertimo/BERT-pytorch/issues/30",
    ),
    ("pre_norm", "normalised residual"): (
        "pre-norm bug in transformer block",
        "Howuhh/faster-trajectory-transformer/issues/3",
    ),
    ("post_norm", "pre-norm in place of post-norm"): (
        "LayerNorm(x + Sublayer(x))",
        "harvardnlp/annotated-transformer/issues/1",
    ),
    ("dropout", "dropout left on in evaluation"): (
        "Dropout not disabled for eval when using SDPA",
        "wenet-e2e/wenet/issues/2699",
    ),
    ("encoder_layer", "normalised stream in the encoder layer"): (
        "Incorrect pre-LN in the transformer model",
        "pytorch/pytorch/issues/61165",
    ),
    ("decoder_layer", "source mask not passed on"): (
        "Appropriate masks are needed for TransformerASR.decode()",
        "speechbrain/speechbrain/issues/1107",
    ),
    ("decoder_layer", "target mask used in cross-attention"): (
        "Fix masks in English-to-Spanish translation example",
        "keras-team/keras-io/pull/1046",
    ),
    ("decoder_layer", "first norm used for cross-attention, too"): (
        "[Bug?] Wrong layer norm used in TransformerDecoderLayer",
        "ml-explore/mlx/issues/1636",
    ),
    ("causal_self_attention", "no causal mask in either mode"): (
        "`RoFormerForCausalLM`, … attend to future tokens since v5.9.0 — CLM training loss "
        "collapses",
        "huggingface/transformers/issues/48745",
    ),
    ("make_stack", "deep copies that start equal"): (
        "TransformerEncoder/TransformerDecoder has same initial parameters for all layers",
        "pytorch/pytorch/issues/86274",
    ),
    ("make_stack", "[layer] * N"): (
        "ff_layer weights sharing",
        "habla-liaa/encodecmae/issues/3",
    ),
    ("transformer_forward", "forward returns probabilities"): (
        "Softmax applied before CrossEntropyLoss",
        "lansinuote/Huggingface_Toturials/issues/6",
    ),
    # Chapters 15 and 16
    ("cross_entropy", "padding in the loss"): (
        "fix: set cross_entropy ignore_index to PAD token index (#305)",
        "lukas-blecher/LaTeX-OCR/pull/443",
    ),
    ("cross_entropy", "loss averaged per sentence"): (
        "Refactors the loss calculation to pull it out into a free function",
        "allenai/open-instruct/pull/1137",
    ),
    ("cross_entropy", "softmax applied twice"): (
        "no need to softmax before cross_entrpoy",
        "bkitano/llama-from-scratch/issues/5",
    ),
    ("cross_entropy", "log-softmax without dim"): (
        "UserWarning: Implicit dimension choice for log_softmax has been deprecated.",
        "benatorc/OTGNN/issues/2",
    ),
    ("label_smoothed_loss", "smoothing shared among the wrong tokens only"): (
        "About label smoothing.",
        "jadore801120/attention-is-all-you-need-pytorch/issues/50",
    ),
    ("label_smoothed_loss", "ε forgotten beside the spread"): (
        "About Label Smoothing",
        "TimDettmers/ConvE/issues/55",
    ),
    ("label_smoothed_loss", "padding in the smoothed loss"): (
        "Smoothing loss bug fix",
        "k-tahiro/bert-summarizer/pull/41",
    ),
    ("perplexity", "mean of the batches' means"): (
        "Incorrect average calculation in `Perplexity of fixed-length models`",
        "huggingface/transformers/issues/34138",
    ),
    ("perplexity", "mean of the perplexities"): (
        "Fix perplexity calculation.",
        "magenta/magenta/pull/239",
    ),
    ("inverse_sqrt_schedule", "updates from zero"): (
        "Avoids 0-to-a-negative exponent error",
        "CUNY-CL/yoyodyne/pull/300",
    ),
    ("training_update", "gradients not zeroed"): (
        "[ez] zero grad every step",
        "meta-pytorch/torchforge/pull/71",
    ),
    ("training_update", "clipped before backward"): (
        "Clip gradients in configure_gradient_clipping instead of training_step",
        "simchowitzlabpublic/nano-world-model/pull/22",
    ),
    ("training_update", "clipped after the step"): (
        "Incorrect use of torch.nn.utils.clip_grad_norm",
        "VGraphRNN/VGRNN/issues/4",
    ),
    ("accumulated_update", "schedule stepped per micro-batch"): (
        "Scheduler always steps when training with gradient accumulation",
        "huggingface/accelerate/issues/963",
    ),
    ("accumulated_update", "micro-batches summed, not averaged"): (
        "Logic Error in gradient accumulation?",
        "karpathy/nanoGPT/issues/206",
    ),
    ("accumulated_update", "gradients zeroed in every micro-batch"): (
        "train.py: zero_grad is called per microbatch, breaking gradient accumulation",
        "bytetriper/RAE/issues/67",
    ),
    ("accumulated_update", "schedule before the step"): (
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`",
        "ThilinaRajapakse/pytorch-transformers-classification/issues/21",
    ),
    # Chapter 17
    ("temperature_probabilities", "divided by the temperature twice"): (
        "[BUG] Temperature applied twice in FlashInfer sampling path",
        "RL-Align/RL-Kernel/issues/81",
    ),
    ("top_k_probabilities", "dropped logits set to zero"): (
        "Possible Improvement to top_k_logits",
        "karpathy/minGPT/issues/10",
    ),
    ("top_k_probabilities", "one token too many"): (
        "top-k sampling off by 1 bug",
        "kingoflolz/mesh-transformer-jax/issues/164",
    ),
    ("greedy_batch", "finished rows still growing"): (
        "fix: correct EOS handling in batched generation",
        "mistralai/mistral-inference/pull/270",
    ),
    ("beam_search", "stops when beam_size hypotheses are finished"): (
        "fix to beam search stopping criteria",
        "neulab/xnmt/pull/572",
    ),
    ("embed_next", "every decoded token at position 0"): (
        "Qwen3-Omni: decode assigns RoPE position 0 to every token",
        "Blaizzy/mlx-vlm/issues/1983",
    ),
    ("reorder_cache", "cache not reordered with the beams"): (
        "Beam search cache reorder silently skipped for Mamba, XLNet, RWKV, and Reformer models",
        "huggingface/transformers/issues/46612",
    ),
}

SEEN = {key: f"{title}, {GITHUB}{path}" for key, (title, path) in THREADS.items()}
