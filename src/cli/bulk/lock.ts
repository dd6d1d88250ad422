import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { UsageError } from "../context.js";

/** Keeps two runs from writing one file. @param option What the command line calls it @returns what gives it back @throws UsageError while another run has it */
export function lock(file: string, option: string): () => void {
  const name = `${file}.lock`;
  const mine = `${name}.${process.pid}`;
  const content = describe(process.pid);
  // Linked when it is whole: nobody reads half a lock.
  writeFileSync(mine, content);
  try {
    while (!tryLink(mine, name)) {
      const holder = read(name);
      if (holder === undefined) continue;
      if (isAlive(holder))
        throw new UsageError(`Another run is writing to ${option}: process ${pidOf(holder)} (${name}).`);
      removeStale(name, holder);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => {
    if (read(name) === content) rmSync(name, { force: true });
  };
}

function tryLink(mine: string, name: string): boolean {
  try {
    linkSync(mine, name);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no links.
    return code === "EPERM" || code === "ENOTSUP" || code === "ENOSYS" ? tryWrite(mine, name) : raise(error);
  }
}

function tryWrite(mine: string, name: string): boolean {
  try {
    writeFileSync(name, readFileSync(mine), { flag: "wx" });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST" ? false : raise(error);
  }
}

// Two runs may find the same stale lock: the one that comes later must not remove the lock of the first.
function removeStale(name: string, holder: string): void {
  const claim = `${name}.stale.${process.pid}`;
  try {
    linkSync(name, claim);
    if (readFileSync(claim, "utf8") === holder && read(name) === holder) unlinkSync(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") rmSync(name, { force: true });
  } finally {
    rmSync(claim, { force: true });
  }
}

function read(name: string): string | undefined {
  try {
    return readFileSync(name, "utf8");
  } catch {
    return undefined;
  }
}

// A number of a process is given again: with the time at which it began, no two are the same.
function describe(pid: number): string {
  return JSON.stringify({ pid, began: beganAt(pid), host: hostname() });
}

function pidOf(holder: string): number {
  try {
    return Number(JSON.parse(holder).pid) || 0;
  } catch {
    return 0;
  }
}

function isAlive(holder: string): boolean {
  const pid = pidOf(holder);
  if (pid === 0) return false;
  // Nothing can be known of a process on another machine.
  if (JSON.parse(holder).host !== hostname()) return true;
  if (isZombie(pid)) return false;
  if (beganAt(pid) !== undefined) return describe(pid) === holder;
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

// Where the system tells it, as Linux does: the 22nd field, the second of which is a name in parentheses. A process that
// was killed and that nobody has asked about is a zombie, and as good as gone.
function beganAt(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields?.[19];
}

function isZombie(pid: number): boolean {
  return /\) [ZX] /.test(read(`/proc/${pid}/stat`) ?? "");
}

function raise(error: unknown): never {
  throw error;
}
