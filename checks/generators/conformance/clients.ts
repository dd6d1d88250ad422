// The clients that are certified, and how each is started.
import { join } from "node:path";
import { certifyOwnClient, hiddenByFetch } from "../../../test/support/conformance/certifyOwnClient.js";
import {
  certifyClient,
  findGo,
  findJava,
  findPhp,
  findPython,
} from "../../../test/support/conformance/clients.js";
import { emptyFolder, root, run, versions } from "../check/toolchains.js";
import { programs } from "../tools/python.js";

/** A client under test. */
export interface Client {
  readonly name: string;
  readonly language: string;
  readonly needs: readonly string[];
  /** Finds or makes what it needs, and says what cannot be had. */
  readonly find?: () => Promise<unknown>;
  /** Whether it is here to show what a generated client alone does not do. */
  readonly generated?: true;
  /** Where its picture goes. */
  readonly badge?: string;
  run(runner: string): Promise<unknown>;
}

/** Every client. */
export const clients: readonly Client[] = [
  {
    name: "tunerank",
    language: "TypeScript, on node:http",
    needs: [],
    badge: join(root, "docs/public/conformance.svg"),
    run: (runner) => certifyOwnClient(runner),
  },
  {
    name: "tunerank over fetch",
    language: "TypeScript, on Node's fetch",
    needs: [],
    run: (runner) => certifyOwnClient(runner, () => ({ fetch: globalThis.fetch }), hiddenByFetch),
  },
  {
    name: "contract/conformance/python",
    language: "Python, on httpx",
    needs: [],
    find: findPython,
    run: (runner) => certifyClient("python", runner),
  },
  {
    name: "contract/conformance/go",
    language: "Go, on net/http",
    needs: [],
    find: findGo,
    run: (runner) => certifyClient("go", runner),
  },
  {
    name: "contract/conformance/java",
    language: "Java, on java.net.http",
    needs: [],
    find: findJava,
    run: (runner) => certifyClient("java", runner),
  },
  {
    name: "contract/conformance/php",
    language: "PHP, on ext-curl",
    needs: [],
    find: findPhp,
    run: (runner) => certifyClient("php", runner),
  },
  {
    name: `openapi-python-client ${versions["openapi-python-client"]}, as generated`,
    language: "Python, on httpx",
    needs: ["Python 3.11 or newer"],
    generated: true,
    run: runGenerated,
  },
];

async function runGenerated(runner: string): Promise<void> {
  const bin = await programs({ name: "openapi-python-client", packages: ["openapi-python-client", "mypy"] });
  const folder = await emptyFolder("conformance");
  const document = join(root, "dist/openapi-client.json");
  const client = join(folder, "client");
  await run(join(bin, "openapi-python-client"), ["generate", "--path", document, "--output-path", client]);
  const caller = join(root, "checks/generators/conformance/generated.py");
  await run(join(bin, "python"), [caller, runner], { env: { PYTHONPATH: client } });
}
