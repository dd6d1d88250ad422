import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";

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
