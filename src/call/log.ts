import { invalid } from "../errors/statusError.js";
import type { ClientOptions, LoggerLike, LogLevel } from "../options/clientOptions.js";
import type { Log } from "./types.js";

const levels: readonly LogLevel[] = ["off", "error", "warn", "info", "debug"];
const methods = levels.slice(1) as Exclude<LogLevel, "off">[];

/**
 * What writes the lines; false where that is turned off.
 * @param name What the level is called. @throws StatusError when the logger or the level cannot be used.
 */
export function logOf(
  { logger, logBodies }: Pick<ClientOptions, "logger" | "logBodies">,
  level: unknown,
  name: string,
): Log | false {
  if (!levels.includes(level as LogLevel)) throw invalid(`${name} must be one of ${levels.join(", ")}.`);
  if (logger !== undefined && methods.some((method) => typeof logger?.[method] !== "function")) {
    throw invalid(`logger must have the methods ${methods.join(", ")}.`);
  }
  return level !== "off" && lineWriter(logger, level as LogLevel, logBodies === true);
}

function lineWriter(logger: LoggerLike | undefined, level: LogLevel, withBodies: boolean): Log {
  // Begun now, so that it is there when the first attempt ends.
  const loaded = import("./logLine.js");
  return (event, bodies) => {
    const content = withBodies ? bodies : undefined;
    // A line that cannot be written changes no call.
    loaded.then(({ writeLine }) => writeLine(logger, level, event, content)).catch(() => {});
  };
}
