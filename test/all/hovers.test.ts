import { describe, expect, test } from "vitest";
import { type Hover, openEditor } from "../support/editor.js";

// What somebody writes in an editor; /**/ stands where the pointer is.
const source = `
import { createClient } from "./src/index.js";
const client = createClient();
const /*answer*/answer = await client.rerank({ query: "q", documents: ["d"], /*top_n*/top_n: 1 });
const results = answer./*data*/data;
const [first] = results;
first?./*document*/document;
const job = await client.reinforcementFineTuningJobs.resume("job-1");
job./*state*/state;
job./*trainingConfig*/trainingConfig?./*lrScheduler*/lrScheduler?./*cosine*/cosine;
job./*acceleratorSeconds*/acceleratorSeconds;
job./*chunkSize*/chunkSize;
await client.rerank.items(/*items*/"q", ["a"], { text: (item) => item });
`;

const editor = openEditor(source);

function hoverOver(mark: string): Hover {
  return editor.hover(editor.file, source.indexOf(`/*${mark}*/`) + mark.length + 4);
}

describe("an editor shows, hovering over", () => {
  test.each([
    ["answer", "const answer: RerankResponse"],
    ["data", "(property) RerankResponse.data: RerankResult[]"],
    ["document", "(property) RerankResult.document?: string | undefined"],
    ["top_n", "(property) RerankRequest.top_n?: number | undefined"],
    ["state", "(property) ReinforcementFineTuningJob.state?: JobState | (string & {}) | undefined"],
    [
      "trainingConfig",
      "(property) ReinforcementFineTuningJob.trainingConfig?: BaseTrainingConfig | undefined",
    ],
    ["lrScheduler", "(property) BaseTrainingConfig.lrScheduler?: LearningRateScheduler | undefined"],
    ["cosine", "(property) LearningRateScheduler.cosine?: CosineSchedule | undefined"],
    [
      "acceleratorSeconds",
      "(property) ReinforcementFineTuningJob.acceleratorSeconds?: AcceleratorSeconds | undefined",
    ],
  ])("%s: its named type", (mark, text) => {
    expect(hoverOver(mark).text).toBe(text);
  });

  test("a field: the contract's words about it", () => {
    expect(hoverOver("chunkSize").about).toBe(
      "Data chunking for rollout. Enabled when the dataset has more than 300 rows. The valid range is 1 to 10,000.\n" +
        "Range: at least 1, at most 10000.\nFormat: int32\n@default 200",
    );
    expect(hoverOver("state").about).toBe(
      "What the job is doing. The order of states is not documented; a newer service may send others.\nRead-only.",
    );
    expect(hoverOver("top_n").about).toBe(
      "The number of most relevant documents to return. All documents when unset.\nRange: at least 1.\nFormat: int64\n@example 3",
    );
  });
});

test("an editor shows, as rerank.items is called, its text, an example and its parameters", () => {
  const shown = editor.signature(source.indexOf("items(/*items*/") + "items(".length);
  expect(shown?.about).toMatch(/^Ranks things of any kind by a text of each: /);
  expect(shown?.about).toContain("@example const best = await client.rerank.items(");
  expect(shown?.parameters.map(({ name }) => name)).toEqual(["query", "items", "options"]);
  expect(shown?.parameters[1]?.about).toBe("The things to rank, of any type.");
});

test("the hovered source has no errors", () => {
  expect(editor.problems()).toEqual([]);
});
