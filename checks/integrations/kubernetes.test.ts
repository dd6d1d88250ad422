import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type IJob, Job } from "kubernetes-models/batch/v1/Job";
import { parse } from "yaml";

// Saved by run.ts from the guide.
const manifest = new URL("documented/kubernetes.yml", import.meta.url);
const read = async (): Promise<IJob> => parse(await readFile(manifest, "utf8"));

// The schema passes over fields that it does not know; the compiler does not.
const job: IJob = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "rank" },
  spec: {
    completionMode: "Indexed",
    completions: 8,
    parallelism: 8,
    backoffLimitPerIndex: 10,
    podFailurePolicy: {
      rules: [
        {
          action: "FailIndex",
          onExitCodes: { containerName: "rank", operator: "In", values: [3, 5] },
        },
      ],
    },
    template: {
      spec: {
        restartPolicy: "Never",
        containers: [
          {
            name: "rank",
            image: "node:22",
            workingDir: "/data",
            // What it does is tested by running it.
            command: (await read()).spec?.template.spec?.containers[0]?.command ?? [],
            envFrom: [{ secretRef: { name: "tunerank" } }],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      },
    },
  },
};

test("the guide's Kubernetes job is one by the schema of Kubernetes", async () => {
  assert.deepEqual(await read(), job);
  new Job(await read()).validate();
});

test("a wrong type, or a field that is missing, would be found", async () => {
  const { spec, ...about } = job;
  const mistyped = { ...spec, parallelism: "eight" } as unknown as NonNullable<IJob["spec"]>;
  assert.throws(() => new Job({ ...about, spec: mistyped }).validate(), /must be integer/);
  const empty = { ...spec, template: { spec: {} } } as unknown as NonNullable<IJob["spec"]>;
  assert.throws(() => new Job({ ...about, spec: empty }).validate(), /containers/);
});
