import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.js";

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
`;

const file = path.join(root, "hovered.ts");
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
const service = ts.createLanguageService({
  // Node's types would take most of the time.
  getCompilationSettings: () => ({ ...options, types: [] }),
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  getScriptFileNames: () => [file],
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    const text = name === file ? source : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

interface Hover {
  readonly text: string;
  readonly about: string;
}

function hoverOver(mark: string): Hover {
  const found = service.getQuickInfoAtPosition(file, source.indexOf(`/*${mark}*/`) + mark.length + 4);
  const tags = found?.tags?.map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`) ?? [];
  return {
    text: ts.displayPartsToString(found?.displayParts),
    about: [ts.displayPartsToString(found?.documentation), ...tags].join("\n"),
  };
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

test("the hovered source has no errors", () => {
  const problems = [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)];
  expect(problems.map(({ messageText }) => messageText)).toEqual([]);
});
