/** A check's name, and what is wrong, if anything is. */
export type CheckResult = readonly [name: string, error?: string];

/** What the checks of one runtime work with. */
export interface Place {
  /** A project that has the package installed, and the checks. */
  readonly user: string;
  readonly baseUrl: string;
  /** An address where nobody listens. */
  readonly closedUrl: string;
  /** A file to upload by its path, where the runtime has paths. */
  readonly file: string;
  /** The folder of the libraries that the checks of Node load. */
  readonly modules: string;
}
