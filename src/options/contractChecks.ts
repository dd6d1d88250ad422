// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { Place, Rules } from "./rules.js";

/** Checks the rules that only some requests have; undefined while no request has one. */
export const checkRules: ((value: unknown, place: Place) => void) | undefined = undefined;

/** The rules of the ids in paths, by operation and name; an id without rules is any text. */
export const idRules: ReadonlyMap<string, Rules> | undefined = undefined;
