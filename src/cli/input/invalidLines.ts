import { UsageError } from "../context.js";
import type { Terminal } from "../terminal.js";

/** A line of an input that cannot be used, and the reason. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
  /** All fields of the line, if it is a JSON object. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

const mostTold = 50;

/** Reports what is invalid in an input, on stderr: after 50 reports, the rest is only counted. */
export class InvalidLines {
  /** How many lines were skipped. */
  count = 0;
  /** How many reports were counted, but not shown. */
  notShown = 0;
  readonly #tell: Terminal["tell"];
  /** Whether an invalid line is enough to reject the whole input (`--strict`). */
  readonly #isStrict: boolean;
  #told = 0;

  constructor(tell: Terminal["tell"], isStrict = false) {
    this.#tell = tell;
    this.#isStrict = isStrict;
  }

  /** Reports a line that is skipped. @returns Its row in a file of errors */
  add({ line, problem }: BadLine): object {
    this.count += 1;
    const row = { line, error: { code: "INVALID_ARGUMENT", message: problem } };
    this.report(row, `Line ${line} ${this.#isStrict ? "is invalid" : "is skipped"}. ${problem}`);
    return row;
  }

  /** Reports something invalid: as `row` with `--json`, else as text. */
  report(row: object, text: string): void {
    this.#told += 1;
    if (this.#told <= mostTold) this.#tell(row, text);
    else if (++this.notShown === 1) this.note("More of these are not shown.");
  }

  note(note: string): void {
    this.#tell({ note }, note);
  }

  /** How many lines were skipped, as a sentence. */
  get summary(): string {
    const { count, notShown } = this;
    const hidden = notShown > 0 ? ` ${notShown} of them were not shown.` : "";
    return `${count === 1 ? "1 line was" : `${count} lines were`} skipped.${hidden}`;
  }

  /** @throws UsageError if lines are invalid and `--strict` was given */
  refuse(): void {
    const { count } = this;
    if (!this.#isStrict || count === 0) return;
    const are = count === 1 ? "1 line is invalid" : `${count} lines are invalid`;
    throw new UsageError(`${are}, so nothing was sent (--strict).`);
  }
}
