// What a code's page begins with.
import { columns } from "../../scripts/generate/columns.js";
import type { Executed, StatusCode } from "../../src/errors/codes.js";
import { adviceFor as adviceOfCode } from "../../src/errors/hints.js";
import { blockOf } from "./blocks.js";
import { distinct, type Row } from "./conformance.js";
import { block } from "./markdown.js";

const shown = (page: string, file: string): string => {
  const { language, text } = blockOf(page, file);
  return `${block(language, text.trim())}\n\n`;
};

// What helps most, with code that its guide runs.
const first: Partial<Record<StatusCode, () => string>> = {
  RESOURCE_EXHAUSTED: () =>
    `The service gets too many requests, or too large ones. Slow down:

- You know your rate limit? Declare it. The requests then leave evenly, and hardly any is refused:

${shown("guide/bulk.md", "rate.ts")}- You do not know it? [\`rerankAll\`](/guide/bulk.md#how-fast-it-goes) and [\`tunerank rerank --bulk\`](/guide/bulk.md#from-a-file) find the speed that the service takes. They wait when it asks, all requests together.
- It happens all day to single calls? Send less often: lower [\`concurrency\`](/guide/rerank.md#many-items) and [\`maxConnections\`](/guide/runtimes.md#connections), and keep the answers that you ask for again and again.
- [Several machines](/recipes/several-machines.md) share one limit: give each its part of the rate, or put the calls into [a queue](/guide/beyond-one-machine.md) that limits them.

What the error says about it:

`,
  UNAVAILABLE: () => `Look at \`executed\` first:\n\n${shown("guide/errors.md", "executed.ts")}`,
  DEADLINE_EXCEEDED: () =>
    `Choose [the deadline](/guide/retries.md#deadlines) yourself:\n\n${shown("guide/retries.md", "deadline.ts")}`,
  UNAUTHENTICATED: () =>
    `Correct the key, or let it [renew itself](/guide/quickstart.md#rotate-the-key):\n\n${shown("guide/quickstart.md", "freshKey.ts")}`,
  CANCELLED: () =>
    `The caller's own \`signal\` [ended the call](/guide/retries.md#cancel-a-request):\n\n${shown("guide/retries.md", "cancel.ts")}`,
};

// As the mock server counts.
const requestId = "req-1";

/** What to do about a code: what helps most, then what its errors say. */
export function adviceFor(name: StatusCode, rows: readonly Row[]): string {
  const states = new Set(rows.flatMap((row) => distinct(row, "executed"))) as Set<Executed>;
  const lines: string[] = [];
  if (states.has("no"))
    lines.push(`- \`executed: "no"\`: ${adviceOfCode({ code: name, executed: "no", requestId }, "")}`);
  if (states.has("unknown") || states.has("yes")) {
    const open = [...states].filter((state) => state !== "no").sort();
    for (const { title, operation } of columns) {
      lines.push(
        `- ${title}, ${open.map((state) => `\`executed: "${state}"\``).join(" or ")}: ${linked(adviceOfCode({ code: name, executed: "unknown", operation, requestId }, ""))}`,
      );
    }
  }
  return (first[name]?.() ?? "") + lines.join("\n");
}

// Where a hint sends somebody, a page says how to go there.
function linked(hint: string): string {
  const words = "the service's other operations";
  return hint.replace(words, `[${words}](/recipes/what-became-of-it.md)`);
}
