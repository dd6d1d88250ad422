// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { checkEach, Rules } from "./rules.js";

/** Checks the rules that only some requests have; undefined while no request has one. */
export const checkRules: ReturnType<typeof checkEach> | undefined = undefined;

/** The rules of the ids in paths, by operation and name; an id without rules is any text. */
export const idRules: ReadonlyMap<string, Rules> | undefined = undefined;
