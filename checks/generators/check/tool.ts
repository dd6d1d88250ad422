/** The operations by the names that this folder uses for them. */
export const operations = ["resume", "rerank", "scale", "upload"] as const;

export type Operation = (typeof operations)[number];

/** Where one tool works on one document. */
export interface Workplace {
  /** The document to generate from. */
  readonly document: string;
  /** An empty folder outside of the repository. */
  readonly folder: string;
}

/** A generator: makes a client, compiles it together with the caller kept for it, and runs that caller. */
export interface Tool {
  readonly name: string;
  readonly language: string;
  readonly version: string;
  /** What must be on the machine, by the names of toolchains.ts. */
  readonly needs: readonly string[];
  readonly documents: readonly string[];
  /** The operations that the tool has no client for, none by default. */
  readonly unsupported?: readonly Operation[];
  /** What someone who uses this tool has to know. */
  readonly note?: string;
  generate(workplace: Workplace): Promise<void>;
  compile(workplace: Workplace): Promise<void>;
  /** Runs the caller and returns what it printed. */
  call(workplace: Workplace, env: Readonly<Record<string, string>>): Promise<string>;
}
