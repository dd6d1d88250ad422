/** A rule of the checkpoint, the text that keeps it, what stands there without it, and the test that then fails. */
export interface BrokenRule {
  readonly rule: string;
  /** Under src/cli. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The file under test, and its test. */
  readonly test: readonly [file: string, name: string];
}

const runs = "all/cli/checkpointRuns.test.ts";
const uploads = "all/cli/checkpointUploads.test.ts";
const bulk = "cli/bulk.test.ts";

export const brokenRules: readonly BrokenRule[] = [
  {
    rule: "a run that ends appends an end line",
    file: "checkpoint.ts",
    from: `if (this.#hasRows) orUndefined(() => this.#write('{"end":true}'));`,
    to: "",
    test: [bulk, "a limit of requests ends a run"],
  },
  {
    rule: "after the renaming the parts are listed again",
    file: "checkpoint.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a piece of code
    from: "!== `${read}` && merge < mostMerges",
    to: "=== undefined",
    test: [runs, "suspended in its merge"],
  },
  {
    rule: "parts are in the order of their numbers",
    file: "checkpoint.ts",
    from: "a.number - b.number || ",
    to: "",
    test: [runs, "parts are in the order of their numbers"],
  },
  {
    rule: "the row of an upload is on the disk before its first byte is sent",
    file: "uploadCommand.ts",
    from: "checkpoint?.sync();",
    to: "",
    test: [uploads, "before the first byte is sent"],
  },
  {
    rule: "the folder of a new part is on the disk, too",
    file: "checkpoint.ts",
    from: "syncFolder(this.#folder);\n    if (isNew)",
    to: "if (isNew)",
    test: [uploads, "before the first byte is sent"],
  },
  {
    rule: "a run looks for its part's name before it appends",
    file: "checkpoint.ts",
    from: "if (this.#pending.length > 0) this.#named();",
    to: "",
    test: [runs, "a part that is removed is replaced before the next row"],
  },
  {
    rule: "a new part gets all that the removed one holds",
    file: "checkpoint.ts",
    from: "read > 0; at += read",
    to: "read > 1e9; at += read",
    test: [runs, "when its part is removed, the run keeps its rows"],
  },
  {
    rule: "a process that is known to be gone is not alive",
    file: "checkpoint.ts",
    from: "!hasEnded && !isGone(run) &&",
    to: "!hasEnded &&",
    test: [bulk, "a second run is refused while one is alive"],
  },
  {
    rule: "a run that was written within 30 s is alive",
    file: "checkpoint.ts",
    from: "now - changedAt < aliveMs",
    to: "now - changedAt < 0",
    test: [bulk, "a second run is refused while one is alive"],
  },
  {
    rule: "the clock is the file system's",
    file: "checkpoint.ts",
    from: "this.#refuseOthers(fs.fstatSync(file).mtimeMs)",
    to: "this.#refuseOthers(Date.now())",
    test: [runs, "clocks that differ by 3600000 ms"],
  },
  {
    rule: "no part of a run that may still write is removed",
    file: "checkpoint.ts",
    from: "isOver(part) && isKnown(part)",
    to: "isKnown(part)",
    test: [runs, "suspended for longer than 30 s"],
  },
  {
    rule: "a part that was not read is not removed",
    file: "checkpoint.ts",
    from: "isOver(part) && isKnown(part)",
    to: "isOver(part)",
    test: [runs, "suspended before it lists the parts to remove"],
  },
  {
    rule: "after a short write the next append begins with a newline",
    file: "checkpoint.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a piece of code
    from: ": `\\n${line}`",
    to: ": line",
    test: [runs, "on a disk that is full for a while"],
  },
  {
    rule: "nothing more is sent once a row cannot be written",
    file: "checkpoint.ts",
    from: "this.#full.abort();",
    to: "",
    test: [runs, "on a disk that is full for a while"],
  },
  {
    rule: "an output with a line that is no row is refused",
    file: "rows.ts",
    from: "if (index > 0 || (!line.hasEnd && this.size > 0 && isCut(text))) continue;",
    to: "if (index >= 0) continue;",
    test: [bulk, "an output with a line that is no row is refused"],
  },
  {
    rule: "ids with one hash are told apart",
    file: "rows.ts",
    from: "if (this.#index[at + 3] !== check) return false;",
    to: "",
    test: ["cli/rows.test.ts", "two ids with one hash"],
  },
  {
    rule: "an older result stays while the changed request has none",
    file: "rows.ts",
    from: "(this.#strengthAt(at) > strengths.final ? 2 : 0)",
    to: "0",
    test: [bulk, "an older result stays"],
  },
  {
    rule: "what is being sent is cleared only by a later row of the same part",
    file: "rows.ts",
    from: "before === strengths.sending && fileBefore === file",
    to: "before === strengths.sending",
    test: [uploads, "a file that was being sent when the command was killed"],
  },
  {
    rule: "--retry-final sends final errors again, and nothing else does",
    file: "bulkCommand.ts",
    from: " && !options.retryFinal",
    to: "",
    test: [bulk, "a rejected request has a final row"],
  },
  {
    rule: "a first line without a request ends the run",
    file: "bulkCommand.ts",
    from: 'run.isEmpty && "error" in read',
    to: 'run.isEmpty && "error" in read && name === ""',
    test: [bulk, "if the first line has no request"],
  },
  {
    rule: "bytes after a gzip member that are none are an error",
    file: "input.ts",
    from: "gunzip.bytesWritten < size",
    to: "gunzip.bytesWritten < 0",
    test: [bulk, "gzip with bytes that are no member"],
  },
  {
    rule: "an input that changes while it is read ends the run",
    file: "input.ts",
    from: "if (now?.size !== stats?.size || now?.mtimeMs !== stats?.mtimeMs)",
    to: "if (isPipe && !isPipe)",
    test: [bulk, "an input that changes while it is read"],
  },
];
