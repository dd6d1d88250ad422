import { isStatusError, type StatusError } from "../index.js";
import { Reported, UsageError } from "./context.js";
import { exitCodeOfError, exitCodes } from "./exitCodes.js";
import { inFlags } from "./flags.js";
import { jsonLine, oneLine, type Terminal } from "./terminal.js";

/**
 * Tells people or machines why a command failed.
 * @param command Its name, when the command line named one.
 * @returns the exit code
 */
export function reportFailure(error: unknown, terminal: Terminal, command: string | undefined): number {
  if (error instanceof Reported) return error.exitCode;
  if (isStatusError(error)) {
    const said = inWords(error, command);
    if (terminal.json) terminal.note(jsonLine({ error: { ...error.toJSON(), ...wholeOf(said) } }));
    else explain(said, error, terminal);
    return exitCodeOfError(error);
  }
  const message = oneLine(error instanceof Error ? error.message : String(error));
  if (error instanceof Error && error.name === "AbortError") {
    terminal.note("Cancelled before anything was sent.");
    return exitCodes.interrupted;
  }
  const usage = error instanceof UsageError;
  const help = `Run \`tunerank ${command === undefined ? "" : `${command} `}--help\` for help.`;
  if (terminal.json) terminal.note(jsonLine({ error: { name: usage ? "UsageError" : "Error", message } }));
  else terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${message}${usage ? `\n${help}` : ""}`);
  return usage ? exitCodes.usage : exitCodes.fault;
}

const ran: Readonly<Record<StatusError["executedBecause"], string>> = {
  "nothing-sent": "The request was not sent.",
  refused: "The request was refused: we assume that it did not run.",
  "no-answer": "The operation may have run.",
  "unclear-answer": "The operation may have run.",
  "success-began": "The operation has run.",
};

interface Said {
  readonly message: string;
  readonly hint: string;
}

// The message without the hint at its end, which is shown apart. What a service says is left as it is.
function inWords({ code, text, hint, codeSource }: StatusError, command: string | undefined): Said {
  const own = codeSource === "client" || codeSource === "transport";
  return { message: `[${code}] ${own ? inFlags(text, command) : text}`, hint: inFlags(hint, command) };
}

/** The whole message of an upload's error in the words of the command line. */
export function messageOf(error: StatusError): string {
  return wholeOf(inWords(error, "upload")).message;
}

function wholeOf({ message, hint }: Said): Said {
  return { message: `${message} ${hint}`.trimEnd(), hint };
}

function explain(
  { message, hint }: Said,
  { executedBecause, requestId }: StatusError,
  terminal: Terminal,
): void {
  const request = requestId === undefined ? "" : ` (request id ${requestId})`;
  terminal.note(`${terminal.errorStyle("red", "tunerank:")} ${oneLine(message + request)}`);
  terminal.note(oneLine(`${ran[executedBecause]} ${hint}`));
}
