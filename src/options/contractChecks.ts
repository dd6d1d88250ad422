// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { Place, Rules } from "./rules.js";

/** Checks the rules of a value that only some requests have. @throws StatusError */
export function checkRules(_value: unknown, _rules: Rules, _place: Place): void {}

/** Whether a text has more rules than its type. */
export function hasRules(_rules: Rules): undefined {}

/** The rules of an id in a path; undefined if it is any text. */
export function idRules(_operation: string, _name: string): undefined {}
