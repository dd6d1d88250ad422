// Reports why a command failed. Facts come from the fields of an error; its message is printed as it is.
import { operations } from "../generated/contract.js";
import { isStatusError, type StatusCode, StatusError } from "../index.js";
import { Reported, RunEnded, UsageError } from "./context.js";
import { exitCodeOfError, exitCodes } from "./exitCodes.js";
import { adviceOf, namedInAdvice, optionOf } from "./options.js";
import { type Terminal, Unwritable } from "./terminal.js";

/** The words of an error, with the option that sets the argument that it is about. */
export function saidOf(error: StatusError, command: string): { what: string; hint: string; option?: string } {
  const { argument, code, text, reason, httpStatus = "", requestId } = error;
  const option = argument === undefined ? undefined : optionOf(argument, command);
  const about = option === undefined ? "" : `${argument} (${option}): `;
  const advice = (argument !== undefined && error.advice !== "" && adviceOf[argument]) || error.advice;
  const named = [code, `${httpStatus}`].flatMap((fact) => {
    const own = namedInAdvice[fact] && optionOf(namedInAdvice[fact], command);
    return own ? [`${namedInAdvice[fact]} is ${own}`] : [];
  });
  const names = named.length > 0 ? `(Here, ${named.join(", ")}.)` : "";
  return {
    what: `${about}[${code}] ${text}${requestId === undefined ? "" : ` (request id ${requestId})`}`,
    hint: [advice, reason, names].filter(Boolean).join(" "),
    ...(option !== undefined && { option }),
  };
}

/** The fields of an error as JSON shows them, with `option`: what sets the argument that it is about. */
export function errorFields(error: StatusError, command: string): Record<string, unknown> {
  const { what: _, ...said } = saidOf(error, command);
  const message = `[${error.code}] ${error.text} ${said.hint}`.trimEnd();
  return { ...error.toJSON(), message, ...said };
}

const ran: Readonly<Record<StatusError["executedBecause"], string>> = {
  "nothing-sent": "The request was not sent.",
  refused: "The service rejected the request: we assume that it did not run.",
  "no-answer": "The operation may have run.",
  "unclear-answer": "The operation may have run.",
  "success-began": "The operation has run.",
};

/** Prints why a command failed, as text or as JSON. @returns The exit code */
export function reportFailure(thrown: unknown, terminal: Terminal, command = ""): number {
  // A result is printed once its operation has run.
  const ranFine = { code: "INTERNAL", executed: "yes", codeSource: "client" } as const;
  const hint = "The operation succeeded: the same command would run it again.";
  const error = thrown instanceof Unwritable ? new StatusError(thrown.message, { ...ranFine, hint }) : thrown;
  if (error instanceof Reported) return error.exitCode;
  // @param more Further lines
  const report = (fields: Record<string, unknown>, what: string, more = ""): void => {
    if (terminal.json) printJson(fields, terminal);
    else terminal.note(terminal.errorStyle("red", "tunerank:"), ` ${what}`);
    if (more !== "" && !terminal.json) terminal.note(more);
  };
  if (error instanceof RunEnded) {
    const { message: why, error: cause, progress, exitCode } = error;
    // Leaves out `notDone`, which lists every request that is left: they are in the input anyway.
    const { notDone: _, ...fields } = cause ? errorFields(cause, command) : { message: `${why}.` };
    const { what, hint } = cause ? saidOf(cause, command) : { what: "", hint: "" };
    const isSaid = why !== "" || cause === undefined;
    const more = isSaid ? "" : `${progress.text} ${hint}`;
    report({ ...fields, progress }, isSaid ? `${why}: ${progress.text}` : what, more);
    return exitCode;
  }
  if (isStatusError(error)) {
    const { what, hint } = saidOf(error, command);
    const more = `${saysThatItRan(error) ? "" : ran[error.executedBecause]} ${hint}`;
    report(errorFields(error, command), what, more.trim());
    return exitCodeOfError(error);
  }
  const message = error instanceof Error ? error.message : String(error);
  // The fields that a StatusError has after a call that sent nothing.
  const notSent = (code: StatusCode): object => ({ code, executed: "no", executedBecause: "nothing-sent" });
  if (error instanceof Error && error.name === "AbortError") {
    const cancelled = "Cancelled before anything was sent.";
    report({ name: "AbortError", ...notSent("CANCELLED"), message: cancelled }, cancelled);
    return exitCodes.interrupted;
  }
  if (!(error instanceof UsageError)) {
    report({ name: "Error", message }, message);
    return exitCodes.fault;
  }
  const help = `Run \`${["tunerank", command, "--help"].filter(Boolean).join(" ")}\` for help.`;
  report({ name: "UsageError", ...notSent("INVALID_ARGUMENT"), message }, message, help);
  return exitCodes.usage;
}

// Whether the advice itself says that the operation may have run, as that about operations that are not idempotent does.
function saysThatItRan({ executed, operation, method = "" }: StatusError): boolean {
  if (executed !== "unknown" || operation === undefined) return false;
  if (operation === "request") return !/^(GET|HEAD|PUT|DELETE)$/.test(method);
  return /^(start|append)$/.test(operations[operation].kind);
}

function printJson(error: Record<string, unknown>, terminal: Terminal): void {
  try {
    terminal.tell({ error }, "");
  } catch {
    // The body, a part of the response, cannot be written as JSON.
    terminal.tell({ error: { ...error, body: undefined } }, "");
  }
}
