import type { DatasetFile } from "../index.js";
import type { ManyOptions } from "./bulk/uploadMany.js";
import { type Context, refuseOptions, UsageError } from "./context.js";
import { createProgress, storedLine } from "./uploadProgress.js";
import { withClient } from "./withClient.js";

interface UploadCommandOptions extends ManyOptions {
  readonly name?: string;
}

/** `tunerank upload DATASET FILE...` */
export async function run(context: Context<UploadCommandOptions>): Promise<void> {
  const [dataset = "", file = "", ...more] = context.args;
  const { checkpoint } = context.options;
  if (more.length > 0 || checkpoint !== undefined)
    return (await import("./bulk/uploadMany.js")).uploadMany(context);
  refuseOptions(context.options, ["resendUnknown", "wait"], "has no effect without --checkpoint.");
  refuseOptions(context.options, ["concurrency"], "has no effect with one FILE.");
  const { terminal, signal } = context;
  const { name, verify } = context.options;
  if (file === "-" && name === undefined) {
    throw new UsageError("The standard input has no name: give one with --name NAME.");
  }
  await withClient(context, "uploadDatasetFile", async (client) => {
    const progress = createProgress(terminal);
    let stored: DatasetFile;
    try {
      stored = await client.datasets.upload(dataset, file === "-" ? process.stdin : file, {
        name,
        verifyBytes: verify === true,
        onProgress: progress.show,
        signal,
      });
    } finally {
      progress.end();
    }
    terminal.result(stored, `Uploaded ${storedLine(stored.filename ?? name ?? file, stored)}`);
  });
}
