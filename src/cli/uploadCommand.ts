import type { DatasetFile } from "../index.js";
import type { ManyOptions } from "./bulk/uploadMany.js";
import { type Context, UsageError } from "./context.js";
import { jsonLine, oneLine } from "./safeText.js";
import { createProgress, storedLine } from "./uploadProgress.js";
import { withClient } from "./withClient.js";

interface Options extends ManyOptions {
  readonly name?: string;
}

/** `tunerank upload DATASET FILE...` */
export async function run(context: Context<Options>): Promise<void> {
  const [dataset = "", file = "", ...more] = context.args;
  const { checkpoint, resendUnknown, wait } = context.options;
  if (more.length > 0 || checkpoint !== undefined)
    return (await import("./bulk/uploadMany.js")).uploadMany(context);
  if (resendUnknown === true) throw new UsageError("--resend-unknown has no effect without --checkpoint.");
  if (wait === true) throw new UsageError("--wait has no effect without --checkpoint.");
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
    if (terminal.json) terminal.print(jsonLine(stored));
    else terminal.print(oneLine(`Uploaded ${storedLine(stored.filename ?? name ?? file, stored)}`));
  });
}
