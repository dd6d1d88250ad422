import { bodyFaults, uploadFaults } from "./bodyFaults.js";
import { connectionFaults, tlsFaults } from "./connectionFaults.js";
import type { Fault } from "./fault.js";
import { errorBodyFaults, headFaults, responseFaults } from "./responseFaults.js";

/** Every way to fail on the wire, in the order of a call. */
export const wireFaults: readonly Fault[] = [
  ...connectionFaults,
  ...tlsFaults,
  ...uploadFaults,
  ...headFaults,
  ...bodyFaults,
  ...responseFaults,
];

/** Every way to fail. */
export const faults: readonly Fault[] = [...wireFaults, ...errorBodyFaults];
