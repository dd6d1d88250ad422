// What every program of the matrix has: it is given a service, ranks the rows, and prints what it wrote.

/** What a program has at its end. */
export interface Written {
  /** Rows with a ranking, each once. */
  readonly rows: number;
  /** Rows with an error. */
  readonly errors: number;
  /** Rows written more than once. */
  readonly twice: number;
}

export interface Given {
  readonly url: string;
  /** How many rows there are. */
  readonly rows: number;
  /** Requests a minute, as the user declares them. */
  readonly perMinute: number | undefined;
  /** Whether to cancel at about a quarter. */
  readonly isCancelled: boolean;
}

export type Settings = Readonly<Record<string, (given: Given) => Promise<Written>>>;

export const body = (row: number): { query: string; documents: string[] } => ({
  query: `row ${row}`,
  documents: ["a document"],
});

export const numbers = (rows: number): number[] => Array.from({ length: rows }, (_, row) => row);

/** The rows as they are written. */
export class Output {
  readonly #seen = new Map<number | string, boolean>();
  #twice = 0;

  /** @param isRanking False for an error: a later run may replace it */
  add(row: number | string, isRanking: boolean): void {
    if (this.#seen.get(row) === true) this.#twice += 1;
    this.#seen.set(row, isRanking);
  }

  has(row: number): boolean {
    return this.#seen.has(row);
  }

  get count(): number {
    return this.#seen.size;
  }

  get written(): Written {
    const rows = [...this.#seen.values()].filter(Boolean).length;
    return { rows, errors: this.#seen.size - rows, twice: this.#twice };
  }
}

/** Tells the matrix that nothing more may be sent. */
export function cancelled(): void {
  console.log("cancelled");
}

/** Runs the setting that the command line names: NAME URL ROWS RATE CANCEL. */
export async function runSetting(settings: Settings): Promise<void> {
  const [name = "", url = "", rows = "", rate = "", cancel = ""] = process.argv.slice(2);
  const setting = settings[name];
  if (setting === undefined) throw new Error(`There is no setting ${name}.`);
  const perMinute = rate === "" ? undefined : Number(rate);
  const written = await setting({ url, rows: Number(rows), perMinute, isCancelled: cancel !== "" });
  console.log(JSON.stringify(written));
  process.exit();
}
