import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Writes pages of what the package's entries export, with TypeDoc: docs/typedoc.json has its options. */
export async function writeApiPages(docs: string): Promise<void> {
  const typedoc = path.join(docs, "node_modules/typedoc/bin/typedoc");
  const args = [typedoc, "--options", path.join(docs, "typedoc.json"), "--logLevel", "Warn"];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [exitCode] = await once(child, "exit");
  if (exitCode !== 0) throw new Error(`TypeDoc ended with ${exitCode}.`);
}
