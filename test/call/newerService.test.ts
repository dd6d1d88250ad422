import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { connect, transports } from "../support/clients.js";
import { answerExamples } from "../support/contract.js";
import { root } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

function jobFile(name: string): unknown {
  return JSON.parse(readFileSync(path.join(root, `checks/generators/jobs/${name}.json`), "utf8"));
}

describe.each(transports)("over $name", ({ options }) => {
  test.each([
    ...answerExamples("resumeReinforcementFineTuningJob"),
    ["a job of a newer service", jobFile("newer")],
    ["a job with nulls", jobFile("nulls")],
    ["a job with more seconds than a number can hold", { acceleratorSeconds: { a: "9007199254740993" } }],
  ] as [string, object][])("%s is read as it came", async (_name, job) => {
    server.reply({ json: job });
    const client = connect(server.url, options);
    expect(await client.reinforcementFineTuningJobs.resume("answer-quality")).toEqual(job);
  });
});
