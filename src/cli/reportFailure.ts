// Reports why a command failed. Facts come from the fields of an error; its message is printed as it is.
import { isStatusError, type StatusCode, type StatusError } from "../index.js";
import { RunEnded, UsageError } from "./context.js";
import { exitCodeOfError, exitCodes } from "./exitCodes.js";
import { optionOf } from "./options.js";
import { styled, type Terminal } from "./terminal.js";

// The command's advice about an argument, where the client's advice names its own options.
const adviceOf: Readonly<Record<string, string>> = {
  baseUrl: "Use https, or add --allow-insecure-http in a trusted network.",
  maxRetries: "To try for longer, use `tunerank bulk` or a job queue.",
};

// The words of an error, with the option that sets the argument that it is about.
function saidOf(error: StatusError, command: string): { what: string; hint: string; option?: string } {
  const { argument, code, text, reason, advice, requestId } = error;
  const option = argument && optionOf(argument, command);
  const own = (argument && advice !== "" && adviceOf[argument]) || advice;
  return {
    what: `${option ? `${argument} (${option}): ` : ""}[${code}] ${text}${requestId ? ` (request id ${requestId})` : ""}`,
    hint: [own, reason].filter(Boolean).join(" "),
    ...(option && { option }),
  };
}

/** The fields of an error as JSON shows them, with `option`: what sets the argument that it is about. */
export function errorFields(error: StatusError, command: string): Record<string, unknown> {
  const { what: _, ...said } = saidOf(error, command);
  return { ...error.toJSON(), message: `[${error.code}] ${error.text} ${said.hint}`.trimEnd(), ...said };
}

const ran: Readonly<Record<StatusError["executedBecause"], string>> = {
  "nothing-sent": "The request was not sent.",
  refused: "The service rejected the request: we assume that it did not run.",
  "no-answer": "The operation may have run.",
  "unclear-answer": "The operation may have run.",
  "success-began": "The operation has run.",
};

export function reportFailure(error: unknown, terminal: Terminal, command = ""): number {
  const report = (fields: object, what: string, more = ""): void => {
    if (terminal.json) terminal.tell({ error: fields }, "");
    else terminal.note(styled("red", "tunerank:"), ` ${what}`);
    if (more !== "" && !terminal.json) terminal.note(more.trimEnd());
  };
  if (error instanceof RunEnded) {
    const { message: why, exitCode, progress, cause } = error;
    if (progress === undefined) return exitCode;
    const failed = isStatusError(cause) ? cause : undefined;
    // Leaves out `notDone`, which lists every request that is left: they are in the input anyway.
    const { notDone: _, ...fields } = failed ? errorFields(failed, command) : { message: `${why}.` };
    const said = failed && saidOf(failed, command);
    if (said === undefined || why !== "") report({ ...fields, progress }, `${why}: ${progress.text}`);
    else report({ ...fields, progress }, said.what, `${progress.text} ${said.hint}`);
    return exitCode;
  }
  if (isStatusError(error)) {
    const { what, hint } = saidOf(error, command);
    report(errorFields(error, command), what, `${ran[error.executedBecause]} ${hint}`);
    return exitCodeOfError(error);
  }
  const { message, name } = error instanceof Error ? error : new Error(String(error));
  // The fields that a StatusError has after a call that sent nothing.
  const notSent = (code: StatusCode): object => ({ code, executed: "no", executedBecause: "nothing-sent" });
  if (name === "AbortError") {
    const cancelled = "Cancelled before anything was sent.";
    report({ name, ...notSent("CANCELLED"), message: cancelled }, cancelled);
    return exitCodes.interrupted;
  }
  const isUsage = error instanceof UsageError;
  if (!isUsage) report({ name: "Error", message }, message);
  else {
    const help = `Run \`${["tunerank", command, "--help"].filter(Boolean).join(" ")}\` for help.`;
    report({ name: "UsageError", ...notSent("INVALID_ARGUMENT"), message }, message, help);
  }
  return isUsage ? exitCodes.usage : exitCodes.fault;
}
