"""The engine that asks a language model: any server that speaks the OpenAI protocol."""

from crowdnotes.engines.llm.engine import LLMEngine

__all__ = ["LLMEngine"]
