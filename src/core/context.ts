import type { Connection } from "./attempt.js";
import type { Defaults } from "./settings.js";

/** What the wrappers of one client work with. */
export interface Context {
  readonly connection: Connection;
  readonly defaults: Defaults;
  readonly rerankModel: string | undefined;
}
