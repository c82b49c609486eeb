// For each line of stdin, a JSON string: the largest count of the three tokenizers.
import { createInterface } from "node:readline";
import { getTokenizer } from "@anthropic-ai/tokenizer";
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";

const claude = getTokenizer();
const plain = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

for await (const line of createInterface({ input: process.stdin })) {
  const text = JSON.parse(line);
  const counts = [claude.encode(text.normalize("NFKC"), [], []), cl100k(text, plain), o200k(text, plain)];
  console.log(Math.max(...counts.map((tokens) => tokens.length)));
}
