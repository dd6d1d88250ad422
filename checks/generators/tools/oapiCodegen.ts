import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache, callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";

const version = versions["oapi-codegen"];
const programs = join(cache, "go", version);
const module = "github.com/oapi-codegen";

export const oapiCodegen: Tool = {
  name: "oapi-codegen",
  language: "Go",
  version,
  needs: ["Go"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: "needs response-type-suffix: two schemas are called like its own response types; takes a finished form for the upload",
  async generate({ document, folder }) {
    if (!existsSync(join(programs, "oapi-codegen"))) {
      const tool = `${module}/oapi-codegen/v2/cmd/oapi-codegen@v${version}`;
      await run("go", ["install", tool], { env: { GOBIN: programs } });
    }
    await mkdir(join(folder, "service"));
    const output = ["-package", "service", "-o", join(folder, "service/service.gen.go")];
    const options = ["-generate", "types,client", "-response-type-suffix", "Answer"];
    await run(join(programs, "oapi-codegen"), [...options, ...output, document]);
  },
  async compile({ folder }) {
    await cp(callers("oapi-codegen"), folder, { recursive: true });
    await run("go", ["mod", "init", "example.com/call"], { cwd: folder });
    await run("go", ["get", `${module}/runtime@v${versions["oapi-codegen/runtime"]}`], { cwd: folder });
    await run("go", ["mod", "tidy"], { cwd: folder });
    await run("go", ["vet", "./..."], { cwd: folder });
    await run("go", ["build", "-o", "caller", "."], { cwd: folder });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};
