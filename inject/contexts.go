package inject

// family is the context of a family of models, by a pattern over names in lower
// case without the maker.
type family struct {
	pattern string
	tokens  int
}

// families are the well-known families whose context is small enough to matter:
// from 48,000 tokens on, a twentieth of it is more than a conversation carries
// anyway. The numbers are those of the makers' own model cards and model pages
// (OpenAI, Meta, Google, Mistral AI, Alibaba, Microsoft, Baichuan, Zhipu, 01.AI,
// the TinyLlama and SmolLM2 projects). A server may give a model less: a
// profile's context says so. The first that fits counts.
func families() []family {
	return []family{
		{"gpt-4", 8192}, {"gpt-4-0314", 8192}, {"gpt-4-0613", 8192},
		{"gpt-3.5-turbo-instruct*", 4096}, {"gpt-3.5-turbo*", 16385},
		{"llama-2-*", 4096}, {"llama2*", 4096},
		{"llama-3-*", 8192}, {"meta-llama-3-*", 8192}, {"llama3", 8192}, {"llama3:*", 8192}, {"llama3-*", 8192},
		{"gemma-2-*", 8192}, {"gemma2*", 8192}, {"gemma-2b*", 8192}, {"gemma-7b*", 8192}, {"gemma:*", 8192},
		{"mistral-7b*", 32768}, {"mistral:7b*", 32768}, {"mixtral-8x7b*", 32768}, {"mixtral:8x7b*", 32768},
		{"qwen1.5*", 32768}, {"qwen2.5-0.5b*", 32768}, {"qwen2.5:0.5b*", 32768}, {"qwen2.5-1.5b*", 32768}, {"qwen2.5:1.5b*", 32768},
		{"qwen2.5-3b*", 32768}, {"qwen2.5:3b*", 32768}, {"qwen3-0.6b*", 32768}, {"qwen3:0.6b*", 32768}, {"qwen3-1.7b*", 32768}, {"qwen3:1.7b*", 32768},
		{"phi-2*", 2048}, {"tinyllama*", 2048}, {"smollm2*", 8192},
		{"baichuan2*", 4096}, {"chatglm3-6b", 8192}, {"yi-6b-chat*", 4096}, {"yi-34b-chat*", 4096},
	}
}
