import { answerFaults } from "./answerFaults.js";
import { bodyFaults } from "./bodyFaults.js";
import { connectionFaults } from "./connectionFaults.js";
import { errorBodyFaults } from "./errorBodyFaults.js";
import type { Fault } from "./fault.js";
import { headFaults } from "./headFaults.js";
import { tlsFaults } from "./tlsFaults.js";
import { uploadFaults } from "./uploadFaults.js";

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
