// What each test double catches of a call in each runtime; the guide's table has to say the same.
import { readFileSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { bun, deno, environment, equal, here, node20, node24, printedBy, withService } from "./processes.js";
import { placed } from "./starters.js";

const doubles = {
  testing: { title: "`tunerank/testing`, as the option `fetch`", modules: [] },
  msw: { title: "MSW", modules: ["msw", "msw/node"] },
  nock: { title: "nock", modules: ["nock"] },
  mockAgent: { title: "undici's `MockAgent`, as the global dispatcher", modules: ["undici"] },
  stub: { title: '`vi.stubGlobal("fetch")`', modules: [] },
} as const;

const guide = new URL("../../docs/guide/testing.md", import.meta.url);

/** Compares every cell. */
export async function checkDoubles(): Promise<string> {
  const folder = placed("doubles");
  const rows: string[] = [];
  for (const [name, { title, modules }] of Object.entries(doubles)) {
    const cells = [];
    for (const program of [[node20], [node24], [bun], [deno, "run", "--no-prompt", "--allow-all"]]) {
      const command = [...program, "process.js", name];
      cells.push((await printedBy(command, folder, environment("https://service.test"))).trim());
    }
    equal(cells[0], cells[1]);
    rows.push(`| ${[title, ...cells.slice(1), await inWorker(folder, name, modules)].join(" | ")} |`);
  }
  const text = readFileSync(guide, "utf8");
  const missing = rows.filter((row) => !text.includes(row));
  if (missing.length > 0) throw new Error(`docs/guide/testing.md has other rows than:\n${rows.join("\n")}`);
  return "the table of the guide";
}

async function inWorker(folder: string, name: string, modules: readonly string[]): Promise<string> {
  const others = Object.values(doubles).flatMap((each) => [...each.modules]);
  const outfile = path.join(folder, "dist/worker.js");
  const built = await build({
    entryPoints: [path.join(folder, "worker.js")],
    outfile,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    plugins: [without(others.filter((each) => !modules.includes(each)))],
    logLevel: "silent",
  }).catch(() => undefined);
  if (built === undefined) return "does not run there";
  let found = "";
  const command = [node24, here("cloudflare-worker/serve.mjs"), outfile];
  const at = { cwd: folder, env: environment("https://service.test") };
  await withService(command, at, async ({ url }) => {
    found = await (await fetch(`${url}?double=${name}`)).text();
  });
  return found;
}

// The other doubles: a worker loads nothing late, so all of it has to be there.
function without(modules: readonly string[]): Plugin {
  return {
    name: "without",
    setup({ onResolve, onLoad }) {
      const namespace = "none";
      onResolve({ filter: /^[a-z]/ }, ({ path: name }) =>
        modules.includes(name) ? { path: name, namespace } : undefined,
      );
      onLoad({ filter: /./, namespace }, () => ({ contents: "" }));
    },
  };
}
