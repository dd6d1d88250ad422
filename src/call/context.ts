import type { Defaults } from "../options/settings.js";
import type { Connection } from "./attempt.js";

/** What the wrappers of one client work with. */
export interface Context {
  readonly connection: Connection;
  readonly defaults: Defaults;
  readonly rerankModel: string | undefined;
}
