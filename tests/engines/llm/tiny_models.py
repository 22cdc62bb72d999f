"""Two language models small enough to be made in a test, for a real server to serve.

python tests/engines/llm/tiny_models.py FOLDER makes FOLDER/random, whose weights are chance, and
FOLDER/answering, whose weights are set by hand: it says ANSWER to everything, in two tokens.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ANSWER = json.dumps({"claims": [{"quote": "This drink makes children ill", "claim": "It makes children ill."}]})
_SPECIAL = ["<s>", "</s>", "<pad>", "<ask>"]


def make(folder: Path) -> None:
    """Write both models, each with its tokenizer and chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    spelled = "".join(
        pair[0] for pair in pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(ANSWER)
    )
    words = [*_SPECIAL, *letters, spelled]
    tokenizer = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", extra_special_tokens=["<ask>"]
    )
    fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}<ask>"
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=len(words) + len(words) % 2,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=16_384,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(config)
    for name in ("random", "answering"):
        fast.save_pretrained(folder / name)
    model.save_pretrained(folder / "random")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.model.norm.weight.fill_(1.0)
        for number in range(len(words)):
            model.model.embed_tokens.weight[number, number] = 1.0
        ask, said = words.index("<ask>"), len(words) - 1
        model.lm_head.weight[said, ask] = 1.0  # after the question the answer, after the answer the end
        model.lm_head.weight[1, said] = 1.0
    model.save_pretrained(folder / "answering")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
