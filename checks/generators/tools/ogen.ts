import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";

const version = versions.ogen;
const programs = join(cache, "go", `ogen-${version}`);
const module = "github.com/ogen-go/ogen";

// As `go install` does, but without asking for newer versions, which not every proxy of modules serves.
async function required(folder: string): Promise<void> {
  await run("go", ["mod", "init", "example.com/call"], { cwd: folder });
  await run("go", ["mod", "edit", "-require", `${module}@v${version}`], { cwd: folder });
}

export const ogen: Tool = {
  name: "ogen",
  language: "Go",
  version,
  needs: ["Go"],
  documents: ["openapi-client-3.0.json"],
  command: "ogen --target client --package client openapi-client-3.0.json",
  get: `go install ${module}/cmd/ogen@v${version}`,
  note: "ignores the default of an object in the 3.1 form; has a type for each status, and for others a failure with the body",
  shortfall: {
    statuses: [],
    responses: ["nothing, without a content type"],
    why: "fails with an error of mime that does not name the status",
  },
  async program() {
    const file = join(programs, "ogen");
    if (!existsSync(file)) {
      await mkdir(programs, { recursive: true });
      if (!existsSync(join(programs, "go.mod"))) await required(programs);
      await run("go", ["build", "-mod=mod", "-o", file, `${module}/cmd/ogen`], { cwd: programs });
    }
    return [file];
  },
  async compile({ folder }) {
    await required(folder);
    await run("go", ["mod", "tidy"], { cwd: folder });
    await run("go", ["vet", "./..."], { cwd: folder });
    await run("go", ["build", "-o", "caller", "."], { cwd: folder });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};
