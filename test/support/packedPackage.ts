import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { copyProject, root, run, temporaryFolder } from "./project.js";

/** The package as users get it. */
export interface PackedPackage {
  /** A user's project that has the package installed. */
  readonly user: string;
  /** The package's own folder within it. */
  readonly installed: string;
  /** What the tarball holds. */
  readonly files: readonly string[];
  remove(): Promise<void>;
}

/** Builds and packs a copy of this project, and installs the tarball in a new one. */
export async function installPackedPackage(): Promise<PackedPackage> {
  const { folder, remove } = await temporaryFolder();
  const project = path.join(folder, "project");
  const user = path.join(folder, "user");
  const installed = path.join(user, "node_modules", "tunerank");
  await copyProject(project);
  await mkdir(installed, { recursive: true });
  const npm = ["pack", "--json", "--pack-destination", folder];
  const { exitCode, stdout, stderr } = await run("npm", npm, { cwd: project });
  if (exitCode !== 0) {
    await remove();
    throw new Error(`npm pack failed:\n${stdout}\n${stderr}`);
  }
  // What the build prints stands before npm's own response.
  const [response] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  await run("tar", ["-xzf", path.join(folder, response.filename), "-C", installed, "--strip-components=1"]);
  for (const dependency of ["openapi-fetch", "openapi-typescript-helpers"]) {
    const from = path.join(root, "node_modules", dependency);
    await symlink(from, path.join(user, "node_modules", dependency), "junction");
  }
  await writeFile(path.join(user, "package.json"), '{"type":"module"}');
  return { user, installed, files: response.files.map((file) => file.path).sort(), remove };
}

/** A file of a user's that uses each operation. */
export const consumer: string = `
import { createClient, isStatusError, throwIfFailed, type Client, type RerankRequest } from "tunerank";
import { createTestService, type ScriptedFailure, type TestService } from "tunerank/testing";

const service: TestService = createTestService({ apiKey: "key", deployments: { prod: 1 } });
const failure: ScriptedFailure = { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 };
service.fail("rerank", failure);
export const tested: Client = createClient({ baseUrl: "https://service.test", fetch: service.fetch });

const client: Client = createClient({ baseUrl: "https://api.example.com", apiKey: () => "key" });
const body: RerankRequest = { query: "q", documents: ["d"] };

export async function use(): Promise<number | undefined> {
  try {
    const { data, attempts } = await client.rerank(body, { timeoutMs: 5_000 }).withResponse();
    throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1"));
    await client.deployments.scale("prod", attempts.length);
    const things = [{ id: 1, title: "a" }];
    const [best] = await client.rerank.items("q", things, { text: ({ title }) => title, topN: 1 });
    if (best !== undefined && best.item.id === best.index) return best.score;
    const { bytes } = await client.datasets.upload("reviews", new Uint8Array([1]), { name: "f" });
    return (data.data[0]?.relevance_score ?? 0) + bytes;
  } catch (error) {
    if (isStatusError(error, "NOT_FOUND")) return error.httpStatus;
    throw error;
  }
}
`;
