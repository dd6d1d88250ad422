// A service that says no: what is written all the same, and what it was asked for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectEngine, type Engine } from "../support/engine.js";
import { perSecond, startRefusing } from "../support/refusing.js";
import { readResults, writeChunks } from "../support/lists.js";

let engine: Engine;
before(async () => {
  engine = await connectEngine();
});
after(() => engine.stop());

test("20 requests a second, three workers, 1,000 rankings: every one is written", async () => {
  const service = await startRefusing(perSecond(20));
  const ids = writeChunks(engine, "twenty", 10, 100);
  await Promise.all([1, 2, 3].map(() => engine.startWorker("twenty", service.url)));
  const handle = await engine.start("twenty", "rerankMany", { reference: "twenty", chunks: 10 });
  const ended = await Promise.race([
    handle.result(),
    new Promise((resolve) => setTimeout(resolve, 110_000, "not over").unref()),
  ]);
  const written = readResults(engine, "twenty");
  const good = service.requests.filter(({ status }) => status === 200).length;
  console.log(`# ${written.length} written, ${good} answered, ${service.requests.length} requests`, ended);
  assert.deepEqual(written.map(({ id }) => id).sort(), [...ids].sort());
  service.close();
});
