// What run.ts uses of bundlers.js: checked without the bundlers, which only this folder installs.

/** What is to be bundled. */
export interface Bundle {
  readonly entry: string;
  readonly forNode: boolean;
  /** An empty folder: "bundle." and the ending of its format is the name of what is written there. */
  readonly folder: string;
}

export type Bundler = (bundle: Bundle) => Promise<unknown>;

export declare const bundlers: Readonly<Record<string, Bundler>>;
