import { isStatusError } from "../index.js";
import { memberOf } from "../values.js";
import { UsageError } from "./context.js";

/** @throws UsageError */
export function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError("--port must be 0 to 65535.");
}

/** Why a port cannot be listened on, as a fault of the command line; the error itself where it is none. */
export function listenError(error: Error, port: number): Error {
  const code = memberOf(isStatusError(error) ? error.cause : error, "code");
  if (code === "EADDRINUSE") {
    return new UsageError(
      `Port ${port} is taken (EADDRINUSE): choose another with --port, or 0 for any free one.`,
    );
  }
  if (typeof code !== "string") return error;
  return new UsageError(`The host and port cannot be listened on: ${code}.`);
}
