import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { entries } from "../../scripts/build/entries.js";
import { apiIndex, apiPage, type Shapes } from "./apiPages.js";
import { Contract } from "./contract.js";
import { jobParts } from "./fields.js";

/** Writes a page of what each entry of the package exports, with TypeDoc: docs/typedoc.json has its options. */
export async function writeApiPages(docs: string): Promise<void> {
  const typedoc = path.join(docs, "node_modules/typedoc/bin/typedoc");
  const args = [typedoc, "--options", path.join(docs, "typedoc.json"), "--logLevel", "Warn"];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [exitCode] = await once(child, "exit");
  if (exitCode !== 0) throw new Error(`TypeDoc ended with ${exitCode}.`);
  const folder = path.join(docs, "generated/api");
  const shapes = shapesOf(await Contract.read());
  const pages = await Promise.all(
    entries.map(async (entry) => {
      const name = path.posix.join("tunerank", entry.name);
      const file = path.join(folder, `${name}.md`);
      const text = await readFile(file, "utf8");
      await writeFile(file, apiPage(text, shapes));
      return { name, text };
    }),
  );
  await writeFile(path.join(folder, "index.md"), apiIndex(pages));
}

// The HTTP reference tells them, with what is not documented: the same again would make the heaviest page heavier.
function shapesOf(contract: Contract): Shapes {
  const parts = jobParts(contract);
  const whole: Record<string, string> = {
    RerankRequest: "rerank",
    RerankResponse: "rerank",
    RerankResult: "rerank",
    RerankUsage: "rerank",
    DatasetFile: "upload",
    ReinforcementFineTuningJob: "job",
  };
  return new Map(
    Object.entries(contract.schemas).flatMap(([name, schema]): [name: string, address: string][] => {
      if (schema.enum !== undefined) return [[name, `/enums/${name}.md`]];
      if (whole[name]) return [[name, `/reference/${whole[name]}.md`]];
      return parts.includes(name) ? [[name, `/reference/job.md#${name.toLowerCase()}`]] : [];
    }),
  );
}
