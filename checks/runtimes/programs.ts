// The runtimes that are programs, each in the ways that its users start it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Runtime } from "./drivers/process.js";

/** A runtime by the name that the docs have. */
export type NamedRuntime = Runtime & { readonly name: string };

/** Where one of the installed programs is. */
export const binary = (file: string): string =>
  fileURLToPath(new URL(`node_modules/${file}`, import.meta.url));

const nodeOf = (major: number): string => binary(`node-${major}/bin/node`);
const deno = binary("@deno/linux-x64-glibc/deno");
// Nothing may be written, and nobody is at home.
const readOnly = ["unshare", "-rm", "sh", "-c", 'mount -o remount,ro,bind / && exec "$@"', "sh"];

/** Every program. @param user The project that has the package. @param file What is uploaded by its path. */
export function programsOf(user: string, file: string): readonly NamedRuntime[] {
  const net = ["run", "--no-prompt", "--allow-net=127.0.0.1", `--allow-read=${file}`];
  const readable = [user, file, binary("")].map((each) => `--allow-fs-read=${each}`);
  const permission = ["--permission", ...readable];
  const denoKey = { HOME: user, TUNERANK_API_KEY: "key-of-deno" };
  return [
    ...[20, 22, 24, 26].map((major) => ({ name: "Node", program: nodeOf(major) })),
    ...[22, 24].map((major) => ({ name: "Node, --permission", program: nodeOf(major), args: permission })),
    {
      name: "Node, --disallow-code-generation-from-strings",
      program: nodeOf(24),
      args: ["--disallow-code-generation-from-strings"],
    },
    { name: "Node, read-only, no HOME", program: nodeOf(24), within: readOnly, env: {} },
    { name: "Bun", program: binary("@oven/bun-linux-x64/bin/bun") },
    { name: "Deno, --allow-net=HOST", program: deno, args: net },
    {
      name: "Deno, --allow-net --allow-env",
      program: deno,
      args: [...net, "--allow-env=TUNERANK_API_KEY"],
      env: denoKey,
    },
  ];
}

/** Why a program cannot be started here; undefined when it can. */
export function unableTo(within: NamedRuntime["within"]): string | undefined {
  if (within === undefined) return undefined;
  const [command = "", ...args] = [...within, "true"];
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : `no file system can be made read-only here (${stderr?.trim()})`;
}
