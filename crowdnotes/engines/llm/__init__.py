"""The engine that asks a language model: any server that speaks the OpenAI protocol."""
