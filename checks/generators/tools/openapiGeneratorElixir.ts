import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

const enough = 'Version.match?(System.version(), "~> 1.18") || raise "this is Elixir #{System.version()}"';
const parse = "for file <- System.argv(), do: file |> File.read!() |> Code.string_to_quoted!()";

export const openapiGeneratorElixir: Tool = {
  ...openapiGenerator("elixir"),
  language: "Elixir",
  needs: ["Java 11 or newer", "Maven", "Elixir"],
  note: "wants Elixir 1.18 and packages of Hex; Debian 12 has Elixir 1.14, whose parser reads every file",
  builds: {
    had: ["elixir", "-e", enough],
    build: ["mix", "do", "local.hex", "--force", "+", "deps.get", "+", "compile"],
  },
  parsedOnly: true,
  async compile({ folder }) {
    const client = join(folder, "client");
    const files = (await readdir(client, { recursive: true })).filter((each) => /\.exs?$/.test(each));
    await run("elixir", ["-e", parse, ...files.map((file) => join(client, file))]);
  },
};
