// How a run gets a lease. The file beside is only ever replaced by renaming a claim over it, and whoever holds a lease
// writes through a descriptor: a process that was asleep meanwhile writes into what has no name, and finds another's token.

import { closeSync, fdatasyncSync, openSync, renameSync, unlinkSync } from "node:fs";
import { orUndefined } from "../context.js";
import { Lease } from "./lease.js";
import { type LeaseRequest, leaseTimes, SilenceWatch, type Verdict, Watch } from "./leaseWatch.js";
import { cannotBegin } from "./rowWriter.js";
import {
  filesBeside,
  parsed,
  type RunFileState,
  randomText,
  readText,
  thisProcess,
  tokenOf,
  writeState,
} from "./runFile.js";

/** Waits until a file may be written, and takes it. @throws UsageError while another run writes it */
export async function takeLease(request: LeaseRequest): Promise<Lease> {
  const names = filesBeside(request.path);
  const watch = new Watch(request);
  const claims = new SilenceWatch(leaseTimes().renewMs);
  try {
    for (;;) {
      const seen = readText(names.run);
      const verdict = watch.see(seen);
      removeLeft(names.claim, claims);
      const lease = verdict === "in use" ? undefined : claimed(request, seen, verdict);
      if (lease !== undefined) return lease;
      await watch.pause();
    }
  } catch (error) {
    throw cannotBegin(request.option, error);
  }
}

// A claim lasts for a moment, unless whoever made it was killed. Who was only slow finds it gone, and makes another.
function removeLeft(name: string, claims: SilenceWatch): void {
  const text = readText(name);
  if (text === undefined || claims.see(text, parsed(text)?.lease) === undefined) return;
  if (readText(name) === text) remove(name);
}

// Of several that see the same, one gets it: a claim is made by one alone, and holds only while what was seen is still
// there. Who was asleep meanwhile may find its claim removed, and rename another's: whose token is read then has the
// lease, and takes it for one that was held.
function claimed(request: LeaseRequest, seen: string | undefined, verdict: Verdict): Lease | undefined {
  const names = filesBeside(request.path);
  const file = orUndefined(() => openSync(names.claim, "wx"), "EEXIST");
  if (file === undefined) return undefined;
  const [token, before] = [randomText(), parsed(seen)];
  let taken: Lease | undefined;
  try {
    const state: RunFileState = {
      format: 1,
      kind: request.kind,
      ...(request.shard !== undefined && { shard: request.shard.name }),
      run: request.run,
      ...(before?.torn && { torn: true }),
      ...((verdict === "stale" || before?.uncopied) && { uncopied: true }),
      lease: { token, counter: 0, heldMs: 0, ...thisProcess() },
    };
    writeState(file, state);
    fdatasyncSync(file);
    const isMine = readText(names.run) === seen && renamed(names.claim, names.run);
    if (tokenOf(readText(names.run)) !== token) return undefined;
    if (!isMine) state.uncopied = true;
    taken = new Lease(request, file, state);
    return taken;
  } finally {
    if (taken === undefined) withdraw(names.claim, file, token);
  }
}

function withdraw(name: string, file: number, token: string): void {
  closeSync(file);
  const text = readText(name);
  // Where the disk is full there is nothing in it.
  if (parsed(text) === undefined || tokenOf(text) === token) remove(name);
}

function renamed(from: string, to: string): boolean {
  return orUndefined(() => renameSync(from, to) ?? true, "ENOENT") === true;
}

function remove(name: string): void {
  orUndefined(() => unlinkSync(name), "ENOENT");
}
