import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { cache, run, versions } from "../check/toolchains.js";

const version = versions["oapi-codegen"];
const programs = join(cache, "go", version);
const module = "github.com/oapi-codegen";
const get = `go install ${module}/oapi-codegen/v2/cmd/oapi-codegen@v${version}`;

export const oapiCodegen: Tool = {
  name: "oapi-codegen",
  language: "Go",
  version,
  needs: ["Go"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "oapi-codegen -generate types,client -package client -o client/client.gen.go openapi-client.json",
  get,
  recipe: { page: "recipes/go.md", program: "main.go", savedAs: "rank/main.go", bin: async () => programs },
  note: "needs the form of an upload, made by mime/multipart",
  async program() {
    if (!existsSync(join(programs, "oapi-codegen"))) {
      const [command = "", ...args] = get.split(" ");
      await run(command, args, { env: { GOBIN: programs } });
    }
    return [join(programs, "oapi-codegen")];
  },
  async compile({ folder }) {
    await run("go", ["mod", "init", "example.com/call"], { cwd: folder });
    await run("go", ["get", `${module}/runtime@v${versions["oapi-codegen/runtime"]}`], { cwd: folder });
    await run("go", ["mod", "tidy"], { cwd: folder });
    await run("go", ["vet", "./..."], { cwd: folder });
    await run("go", ["build", "-o", "caller", "."], { cwd: folder });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};

const ogenVersion = versions.ogen;
const ogenPrograms = join(cache, "go", `ogen-${ogenVersion}`);
const ogenModule = "github.com/ogen-go/ogen";

// As `go install` does, but without asking for newer versions, which not every proxy of modules serves.
async function required(folder: string): Promise<void> {
  await run("go", ["mod", "init", "example.com/call"], { cwd: folder });
  await run("go", ["mod", "edit", "-require", `${ogenModule}@v${ogenVersion}`], { cwd: folder });
}

export const ogen: Tool = {
  name: "ogen",
  language: "Go",
  version: ogenVersion,
  needs: ["Go"],
  documents: ["openapi-client-3.0.json"],
  command: "ogen --target client --package client openapi-client-3.0.json",
  get: `go install ${ogenModule}/cmd/ogen@v${ogenVersion}`,
  note: "ignores the default of an object in the 3.1 form; has a type for each status, and for others a failure with the body",
  shortfall: {
    statuses: [],
    responses: ["nothing, without a content type"],
    why: "fails with an error of mime that does not name the status",
  },
  async program() {
    const file = join(ogenPrograms, "ogen");
    if (!existsSync(file)) {
      await mkdir(ogenPrograms, { recursive: true });
      if (!existsSync(join(ogenPrograms, "go.mod"))) await required(ogenPrograms);
      await run("go", ["build", "-mod=mod", "-o", file, `${ogenModule}/cmd/ogen`], { cwd: ogenPrograms });
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
