// Test runners with their defaults: a test of a user's, with a client over a port and the mock server behind it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { blockOf } from "../../docs/build/blocks.js";
import { inPairs, runNode, tool } from "./tool.js";

interface Runner {
  readonly name: string;
  /** The test's file, whose name says its language. */
  readonly file: string;
  readonly imports: "require" | "import";
  /** Where `test` comes from, when it is no global. */
  readonly testFrom?: string;
  /** Whether it is the test file of the docs, whole. */
  readonly documented?: true;
  /** The test's own text, when it is not the usual one. */
  readonly text?: string;
  /** Its fake timers: the functions `startClock`, `pass` and `stopClock`. */
  readonly clock?: string;
  readonly configuration?: object;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const text = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`projects/${name}`, import.meta.url)), "utf8");

const recipe = blockOf("recipes/jest-vitest.md", "search.test.ts").text;

const jests = [29, 30].flatMap((version): Runner[] => {
  const args = [tool(`jest-${version}/bin/jest.js`), "--watchman=false"];
  const swc = { transform: { "\\.ts$": tool("@swc/jest") } };
  const tsJest = { transform: { "\\.ts$": [tool("ts-jest"), { isolatedModules: true }] } };
  const jsdom = { testEnvironment: tool(`jest-environment-jsdom-${version}`) };
  const name = `Jest ${version}`;
  return [
    { name, file: "a.test.js", imports: "require", args },
    { name: `${name}, @swc/jest`, file: "a.test.ts", imports: "import", args, configuration: swc },
    { name: `${name}, ts-jest`, file: "a.test.ts", imports: "import", args, configuration: tsJest },
    ...[swc, tsJest].map((configuration, index): Runner => {
      const transform = `${name}, ${["@swc/jest", "ts-jest"][index]}, recipe`;
      return { name: transform, file: "a.test.ts", imports: "import", documented: true, args, configuration };
    }),
    {
      name: `${name}, ES modules`,
      file: "a.test.mjs",
      imports: "import",
      args,
      configuration: { testMatch: ["**/*.mjs"], transform: {} },
      env: { NODE_OPTIONS: "--experimental-vm-modules --no-warnings" },
    },
    {
      name: `${name}, jsdom`,
      file: "a.test.js",
      imports: "require",
      text: text("jsdom.js"),
      args,
      configuration: jsdom,
    },
  ];
});

const runners: readonly Runner[] = [
  ...jests,
  {
    name: "mocha",
    file: "test/a.js",
    imports: "require",
    args: [tool("mocha/bin/mocha.js"), "--ui", "qunit"],
  },
  { name: "node:test", file: "a.test.js", imports: "require", testFrom: "node:test", args: ["--test"] },
  {
    name: "node:test, ES modules",
    file: "a.test.mjs",
    imports: "import",
    testFrom: "node:test",
    args: ["--test"],
  },
  {
    name: "vitest",
    file: "a.test.ts",
    imports: "import",
    testFrom: "vitest",
    args: [tool("vitest/vitest.mjs"), "run"],
  },
  {
    name: "vitest, recipe",
    file: "a.test.ts",
    imports: "import",
    testFrom: "vitest",
    documented: true,
    args: [tool("vitest/vitest.mjs"), "run"],
  },
];

// Most leave `performance` alone, as the defaults of older runners do; the defaults of Vitest and Sinon fake it.
const jestTimers = `const startClock = () => jest.useFakeTimers({ doNotFake: ["performance"] });
const pass = (ms) => jest.advanceTimersByTimeAsync(ms);
const stopClock = () => jest.useRealTimers();
`;
const vitestTimers = (
  toFake: readonly string[],
) => `import { vi } from ${JSON.stringify(tool("vitest/dist/index.js"))};
const startClock = () => vi.useFakeTimers({ toFake: ${JSON.stringify(toFake)} });
const pass = (ms) => vi.advanceTimersByTimeAsync(ms);
const stopClock = () => vi.useRealTimers();
`;
const nodeTimers = (options: string) => `const { mock } = require("node:test");
const startClock = () => mock.timers.enable(${options});
const pass = async (ms) => mock.timers.tick(ms);
const stopClock = () => mock.timers.reset();
`;
const sinonTimers = (
  options: string,
) => `const timers = require(${JSON.stringify(tool("@sinonjs/fake-timers"))});
let clock;
const startClock = () => (clock = timers.install(${options}));
const pass = (ms) => clock.tickAsync(ms);
const stopClock = () => clock.uninstall();
`;
// The default of Vitest 1 and 2.
const olderVitest = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
  "Date",
];

const faking: readonly Runner[] = [
  ...[29, 30].map(
    (version): Runner => ({
      name: `Jest ${version}, fake timers`,
      file: "a.test.js",
      imports: "require",
      clock: jestTimers,
      args: [tool(`jest-${version}/bin/jest.js`), "--watchman=false"],
    }),
  ),
  {
    name: "Jest 30, fake timers: enabled globally",
    file: "a.test.js",
    imports: "require",
    clock: jestTimers.replace(/jest\.use.*/g, "{};"),
    args: [tool("jest-30/bin/jest.js"), "--watchman=false"],
    configuration: { fakeTimers: { enableGlobally: true, doNotFake: ["performance"] } },
  },
  ...[[], olderVitest, ["setTimeout", "clearTimeout"]].map(
    (toFake): Runner => ({
      name: `vitest, fake timers: ${toFake.join(" ") || "as by default"}`,
      file: "a.test.ts",
      imports: "import",
      testFrom: "vitest",
      clock: toFake.length === 0 ? vitestTimers([]).replace("{ toFake: [] }", "") : vitestTimers(toFake),
      args: [tool("vitest/vitest.mjs"), "run"],
    }),
  ),
  ...["", '{ apis: ["setTimeout"] }'].map(
    (options): Runner => ({
      name: `node:test, fake timers: ${options || "as by default"}`,
      file: "a.test.js",
      imports: "require",
      testFrom: "node:test",
      clock: nodeTimers(options),
      args: ["--test"],
    }),
  ),
  ...[
    // Node's own sockets and streams need these two.
    '{ toNotFake: ["nextTick", "queueMicrotask"] }',
    '{ toFake: ["setTimeout", "clearTimeout", "setImmediate", "Date"] }',
  ].map(
    (options): Runner => ({
      name: `mocha, fake timers of Sinon: ${options}`,
      file: "test/a.js",
      imports: "require",
      clock: sinonTimers(options),
      args: [tool("mocha/bin/mocha.js"), "--ui", "qunit"],
    }),
  ),
];

/** Runs the test with each. */
export async function checkTestRunners(user: string): Promise<string> {
  const failed: string[] = [];
  const all = [...runners, ...faking];
  await inPairs([...all.entries()], async ([number, runner]) => {
    const project = path.join(user, `tests-${number}`);
    writeProject(project, runner);
    await runNode(runner.args, project, runner.env).catch((error: Error) =>
      failed.push(`${runner.name}:\n${error.message}`),
    );
  });
  if (failed.length > 0) throw new Error(failed.join("\n"));
  return all.map(({ name }) => name).join("; ");
}

function writeProject(project: string, runner: Runner): void {
  const { file, configuration } = runner;
  mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
  writeFileSync(path.join(project, file), runner.documented ? documentedTest(runner) : ownTest(runner));
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ jest: configuration }));
}

function ownTest({ imports, testFrom, clock, ...runner }: Runner): string {
  const bind = (names: string, from: string): string =>
    imports === "import"
      ? `import { ${names} } from "${from}";\n`
      : `const { ${names} } = require("${from}");\n`;
  const lines = [
    bind("createClient, isStatusError, StatusError", "tunerank"),
    bind("createTestService", "tunerank/testing"),
    testFrom === undefined
      ? ""
      : bind("test", testFrom === "vitest" ? tool("vitest/dist/index.js") : testFrom),
  ];
  if (clock === undefined) return lines.join("") + (runner.text ?? text("calls.js"));
  // Before any clock is another.
  lines.push(bind("createServer", "node:http"));
  lines.push(bind("gzipSync", "node:zlib"));
  lines.push(
    bind(
      imports === "import" ? "setImmediate as setRealImmediate" : "setImmediate: setRealImmediate",
      "node:timers",
    ),
  );
  return lines.join("") + clock + text("fakeTimers.js");
}

// As its page says: in Jest the functions are there without the import.
function documentedTest({ testFrom }: Runner): string {
  if (testFrom === "vitest") return recipe.replace('"vitest"', JSON.stringify(tool("vitest/dist/index.js")));
  return recipe.replace(/^import .* from "vitest";\n/m, "");
}
