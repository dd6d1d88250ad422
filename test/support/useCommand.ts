import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Surroundings, tunerank } from "./commandLine.js";
import { type Outcome, temporaryFolder } from "./project.js";

/** Runs the command against a server, and gives the tests of a file a folder. */
export function useCommand(server: { readonly url: string }): {
  run(args: readonly string[], more?: Surroundings): Promise<Outcome>;
  /** The path of a file there. */
  at(name: string): string;
  /** Writes a file. @returns Its path */
  written(name: string, content: string | Uint8Array): Promise<string>;
} {
  let made: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    made = await temporaryFolder();
  });
  afterAll(() => made.remove());
  const at = (name: string): string => path.join(made.folder, name);
  return {
    run: (args, more) => tunerank(args, { baseUrl: server.url, ...more }),
    at,
    async written(name, content) {
      await writeFile(at(name), content);
      return at(name);
    },
  };
}
