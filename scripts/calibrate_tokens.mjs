// Counts tokens: a JSON list of texts on stdin, a JSON list of the largest counts on stdout.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const require = createRequire(process.argv[2] + "/");
const { getTokenizer } = require("@anthropic-ai/tokenizer");
const o200k = require("gpt-tokenizer/encoding/o200k_base");
const cl100k = require("gpt-tokenizer/encoding/cl100k_base");
const claude = getTokenizer();
const every = { allowedSpecial: "all" };
const counts = JSON.parse(readFileSync(0, "utf8")).map((text) =>
  Math.max(
    claude.encode(text.normalize("NFKC"), "all").length,
    o200k.encode(text, every).length,
    cl100k.encode(text, every).length,
  ),
);
console.log(JSON.stringify(counts));
