import { answerFaults, errorBodyFaults, headFaults } from "./answerFaults.js";
import { bodyFaults, uploadFaults } from "./bodyFaults.js";
import { connectionFaults, tlsFaults } from "./connectionFaults.js";
import type { Fault } from "./fault.js";

/** Every way to fail on the wire, in the order of a call. */
export const wireFaults: readonly Fault[] = [
  ...connectionFaults,
  ...tlsFaults,
  ...uploadFaults,
  ...headFaults,
  ...bodyFaults,
  ...answerFaults,
];

/** Every way to fail. */
export const faults: readonly Fault[] = [...wireFaults, ...errorBodyFaults];
