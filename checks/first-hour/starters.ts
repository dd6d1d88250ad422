// What each ecosystem's own starter writes around a program. It is not tracked: it is written where the program runs.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { here } from "./processes.js";

interface Starter {
  /** Where the starter has a file of ours; the others stand beside each other. */
  readonly places?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

const component = "() {\n  return null;\n}\n";

/** A test in a runtime's own runner. @param checks What it says of `first`, the best rank, and of `sent`, the requests */
const searchTest = (imports: string, name: string, checks: string): string => `${imports}
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

${name}("a busy service is asked again", async () => {
  const service = createTestService();
  const client = createClient({ baseUrl: "https://test.example", apiKey: "key", fetch: service.fetch });
  service.fail("rerank", { code: "UNAVAILABLE", retryAfter: 0 });
  const { data } = await client.rerank({ query: "Paris", documents: ["Rome", "Paris"] });
  const [first, sent] = [data[0]?.index, service.requests.length];
  ${checks}
});
`;

const starters: Readonly<Record<string, Starter>> = {
  "node-javascript": {
    files: {
      "search.test.js": searchTest(
        'import assert from "node:assert/strict";\nimport { test } from "node:test";',
        "test",
        "assert.deepEqual([first, sent], [1, 2]);",
      ),
    },
  },
  bun: {
    files: {
      "search.test.ts": searchTest(
        'import { expect, test } from "bun:test";',
        "test",
        "expect([first, sent]).toEqual([1, 2]);",
      ),
    },
  },
  deno: {
    files: {
      "search_test.ts": searchTest(
        "",
        "Deno.test",
        'if (first !== 1 || sent !== 2) throw new Error("It was not asked again.");',
      ),
    },
  },
  // The double that is named, in a process and in a worker.
  doubles: {
    files: {
      "process.js":
        'import { call } from "./call.js";\nconsole.log(await call(process.argv[2]));\nprocess.exit();\n',
      "worker.js": `import { call } from "./call.js";
export default {
  fetch: async (request) => new Response(await call(new URL(request.url).searchParams.get("double"))),
};
`,
    },
  },
  next: {
    places: { "route.js": "app/search/route.js" },
    files: {
      // A page may ask what an error is; it calls the route, not the service.
      "app/page.js":
        '"use client";\nimport { isStatusError } from "tunerank";\nexport default function Page() {\n  return <p>{String(isStatusError(undefined))}</p>;\n}\n',
      "app/layout.js":
        'export default function Layout({ children }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n',
      // The packages stand two folders above.
      "next.config.mjs":
        'export default { turbopack: { root: new URL("../..", import.meta.url).pathname } };\n',
    },
  },
  hono: {
    files: {
      // A configuration of its own: else it takes that of a folder above.
      "vite.config.ts": "export default {};\n",
      "server.ts":
        'import { serve } from "@hono/node-server";\nimport { app } from "./app.ts";\nserve({ fetch: app.fetch, port: Number(process.env.PORT) });\n',
    },
  },
  sveltekit: {
    places: { "+server.ts": "src/routes/search/+server.ts" },
    files: {
      "package.json": '{ "type": "module" }\n',
      "vite.config.js":
        'import adapter from "@sveltejs/adapter-node";\nimport { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit({ adapter: adapter() })] };\n',
      "src/app.html":
        "<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n",
    },
  },
  nitro: {
    places: { "search.ts": "routes/search.ts" },
    files: { "nitro.config.ts": 'export default defineNitroConfig({ compatibilityDate: "2026-11-01" });\n' },
  },
  astro: {
    places: { "search.ts": "src/pages/search.ts" },
    files: {
      "astro.config.mjs":
        'import node from "@astrojs/node";\nimport { defineConfig } from "astro/config";\nexport default defineConfig({ adapter: node({ mode: "standalone" }) });\n',
    },
  },
  "react-router": {
    places: { "search.ts": "app/routes/search.ts" },
    files: {
      "package.json": '{ "type": "module", "dependencies": { "@react-router/node": "*" } }\n',
      "vite.config.ts":
        'import { reactRouter } from "@react-router/dev/vite";\nexport default { plugins: [reactRouter()] };\n',
      "app/root.tsx": `export default function App${component}`,
      "app/routes.ts":
        'import { route } from "@react-router/dev/routes";\nexport default [route("search", "routes/search.ts")];\n',
    },
  },
  nest: {
    files: {
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          module: "nodenext",
          target: "es2023",
          types: ["node"],
          typeRoots: ["../../../../node_modules/@types"],
          strict: true,
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          skipLibCheck: true,
          rootDir: ".",
          outDir: "dist",
        },
        files: ["main.ts"],
      }),
    },
  },
};

/** Every program runs in a folder here, below the packages. */
export const work: string = here("work");

/** Writes a program and what its starter has around it. @returns its folder */
export function placed(name: string): string {
  const { places = {}, files = {} } = starters[name] ?? {};
  const folder = path.join(work, name);
  rmSync(folder, { recursive: true, force: true });
  cpSync(here(name), folder, { recursive: true });
  for (const [file, place] of Object.entries(places)) {
    mkdirSync(path.join(folder, path.dirname(place)), { recursive: true });
    cpSync(path.join(folder, file), path.join(folder, place));
    rmSync(path.join(folder, file));
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}
