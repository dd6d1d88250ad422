// The input of a bulk run, and the output of one that has done all but the last of its lines. Fingerprints are made here
// too, so that a change of theirs would be seen: the command would refuse the run.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

const documentsEach = 10;
const text = "How a key is reset when it was lost, and who may ask for a new one. ";

export async function writeBulkFiles(folder, lines) {
  const [input, rows, output] = ["in", "rows", "out"].map((name) => join(folder, `${name}.jsonl`));
  await write(input, lines, (number) => JSON.stringify(requestOf(number)));
  await write(rows, lines - 1, (number) => JSON.stringify(rowOf(requestOf(number))));
  const args = ["bulk", input, "--quiet", "--output"];
  let runs = 0;
  return {
    /** A run that is ended before its first response leaves the rows as they are. */
    argsFor(done) {
      return [...args, done === "nothing" ? `${output}.${++runs}` : rows];
    },
  };
}

function requestOf(number) {
  const documents = Array.from({ length: documentsEach }, (_, index) => `${text}${number}.${index}`);
  return { id: `request-${number}`, query: `how do I reset key ${number}`, documents };
}

function rowOf({ id, query, documents }) {
  const sent = JSON.stringify({ query, documents, return_documents: false });
  const hash = createHash("sha256").update(`${JSON.stringify(id)}\n${sent}\n`);
  const data = documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  const fingerprint = hash.digest("base64url").slice(0, 22);
  return {
    id,
    fingerprint,
    response: { object: "list", model: "bench", data, usage: { total_tokens: 200 } },
  };
}

async function write(file, lines, lineOf) {
  const stream = createWriteStream(file);
  const perWrite = 1000;
  for (let first = 0; first < lines; first += perWrite) {
    const count = Math.min(perWrite, lines - first);
    const part = Array.from({ length: count }, (_, index) => `${lineOf(first + index)}\n`).join("");
    if (!stream.write(part)) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "close");
}
