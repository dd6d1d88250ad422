import { format } from "node:util";
import { StatusError } from "../../src/errors/statusError.js";
import { leaksOf, leaksWithin } from "./canary.js";

/** What came out since it was last searched. */
let values: { readonly what: string; readonly value: unknown }[] = [];
let printed: string[] = [];
let leaks: string[] = [];

// A file of properties makes a hundred thousand errors. The cheap look must do for those beyond the first of a file,
// and for those that pile up within one test: these are searched in steps that hold up nothing that is being timed.
const searchedFully = 1000;
let leftToSearchFully = 0;
const mostKept = 2000;
const step = 250;

/** Keeps a value that a caller got, to be searched for the key. */
export function see(what: string, value: unknown): void {
  values.push({ what, value });
  if (values.length > mostKept) search(values.splice(0, step), leaksWithin);
}

/** Keeps text that went to stdout or stderr. */
export function seePrinted(text: string): void {
  printed.push(text);
}

/** Searches what was kept. Returns the leaks found since this was last asked, and forgets them. */
export function takeLeaks(): readonly string[] {
  const fully = values.splice(0, leftToSearchFully);
  leftToSearchFully -= fully.length;
  search(fully, leaksOf);
  search(values, leaksWithin);
  search([{ what: "stdout or stderr", value: printed.join("") }], leaksWithin);
  const found = leaks;
  values = [];
  printed = [];
  leaks = [];
  return found;
}

function search(among: typeof values, look: typeof leaksOf): void {
  // Vitest's own way of writing stacks reads source maps, which takes longer than all the rest.
  const { prepareStackTrace } = Error;
  Reflect.deleteProperty(Error, "prepareStackTrace");
  try {
    for (const { what, value } of among) leaks.push(...look(value).map((leak) => `${what}, ${leak}`));
  } finally {
    if (prepareStackTrace) Error.prepareStackTrace = prepareStackTrace;
  }
}

let watching = false;

/** Begins the watch over a file: of all StatusErrors and all output of this process, which other files may share. */
export function startWatch(): void {
  leftToSearchFully = searchedFully;
  if (watching) return;
  watching = true;
  watchStatusErrors();
  watchOutput();
}

// Sees every StatusError from now on: the class's constructor calls this one, where it called Error's.
function watchStatusErrors(): void {
  const watched = function (...given: [message?: string, options?: ErrorOptions]): Error {
    const error: Error = Reflect.construct(Error, given, new.target);
    see("a StatusError", error);
    return error;
  };
  watched.prototype = Error.prototype;
  Object.setPrototypeOf(StatusError, Object.setPrototypeOf(watched, Error));
}

// Sees everything this process prints from now on; it is printed as before.
function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    stream.write = (...given: unknown[]): boolean => {
      const [chunk] = given;
      seePrinted(typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString());
      return write(...given);
    };
  }
  const methods = console as unknown as Record<string, unknown>;
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== "function") continue;
    methods[name] = (...given: unknown[]): unknown => {
      seePrinted(format(...given));
      return method.apply(console, given);
    };
  }
  process.on("warning", (warning) => seePrinted(format(warning)));
}
