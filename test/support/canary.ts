import { format, inspect } from "node:util";
import { StatusError } from "../../src/errors/statusError.js";

/** The key of the whole suite. JSON, base64 and a URL each write it in another way. */
export const canaryKey: string = 'canary-4tX/+=%2F"\\<&>~?z9';

/** Every place where a value shows the key, as "written so: seen there"; none is right. */
export function leaksOf(value: unknown, key: string = canaryKey): readonly string[] {
  const writings = writingsOf(key);
  const leaks: string[] = [];
  for (const [view, show] of Object.entries(views)) {
    const text = shown(show, value);
    for (const [writing, form] of writings) if (text.includes(form)) leaks.push(`${writing}: ${view}`);
  }
  return leaks;
}

/** A cheap look, for when there are very many: a text, or a value's JSON and String, and those of its causes. */
export function leaksWithin(value: unknown, key: string = canaryKey): readonly string[] {
  const text = typeof value === "string" ? value : shown(brief, value);
  return writingsOf(key).flatMap(([writing, form]) => (text.includes(form) ? [`${writing}: text`] : []));
}

function brief(value: unknown): string {
  const texts = [JSON.stringify(value)];
  for (let error = value; error !== undefined; error = causeOf(error)) texts.push(String(error));
  return texts.join("\n");
}

function causeOf(value: unknown): unknown {
  return value instanceof Error ? value.cause : undefined;
}

const known = new Map<string, readonly (readonly [writing: string, form: string])[]>();

function writingsOf(key: string): readonly (readonly [writing: string, form: string])[] {
  const found = known.get(key) ?? makeWritings(key);
  known.set(key, found);
  return found;
}

function makeWritings(key: string): readonly (readonly [writing: string, form: string])[] {
  const component = encodeURIComponent(key);
  const every = Array.from(Buffer.from(key), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const lower = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());
  const unicode = (char: string) => `\\u00${char.charCodeAt(0).toString(16)}`;
  const aligned = [0, 1, 2].map((offset) => base64At(offset, key));
  const writings: [writing: string, form: string][] = [
    ["plain", key],
    ["as JSON", JSON.stringify(key).slice(1, -1)],
    ["as JSON", JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/")],
    ["as JSON", JSON.stringify(key).slice(1, -1).replace(/[&<>]/g, unicode)],
    ["as JSON throughout", key.replace(/./g, unicode)],
    ["with its backslashes doubled", key.replaceAll("\\", "\\\\")],
    ["as HTML", key.replace(/[&<>"]/g, (char) => htmlOf[char] ?? char)],
    ["percent-encoded", component],
    ["percent-encoded", lower(component)],
    ["percent-encoded", encodeURI(key)],
    ["percent-encoded", new URLSearchParams({ k: key }).toString().slice(2)],
    ["percent-encoded throughout", every],
    ["percent-encoded throughout", every.toUpperCase()],
    ...aligned.map((form): [string, string] => ["base64", form]),
    ...aligned.map((form): [string, string] => ["base64url", form.replace(/\+/g, "-").replace(/\//g, "_")]),
  ];
  return [...new Map(writings.map(([writing, form]) => [form, [writing, form] as const])).values()];
}

const htmlOf: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

// Only the characters that the key alone decides, whatever stands around it.
function base64At(offset: number, key: string): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
  return bytes.toString("base64").slice(Math.ceil((8 * offset) / 6), Math.floor((8 * bytes.length) / 6));
}

const everything = {
  depth: Number.POSITIVE_INFINITY,
  showHidden: true,
  getters: true,
  maxStringLength: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
} as const;

// Every way in which a value may come to be in a log.
const views: Readonly<Record<string, (value: unknown) => string>> = {
  inspect: (value) => inspect(value, everything),
  JSON: (value) => JSON.stringify(value) ?? "",
  String: (value) => String(value),
  structuredClone: (value) => {
    const clone = structuredClone(value);
    return `${inspect(clone, everything)}\n${members(clone)}`;
  },
  members,
};

// Some values cannot be shown in every way; that is no leak.
function shown(show: (value: unknown) => string, value: unknown): string {
  try {
    return show(value);
  } catch (error) {
    return String(error);
  }
}

/** Every string in own and inherited members, stacks and causes included, unescaped. */
function members(root: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const left: unknown[] = [root];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "symbol") texts.push(String(value));
    else if (isObject(value) && !seen.has(value)) {
      seen.add(value);
      left.push(...contentOf(value));
    }
  }
  return texts.join("\n");
}

function contentOf(value: object): readonly unknown[] {
  if (ArrayBuffer.isView(value)) {
    return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1")];
  }
  const content: unknown[] = [];
  if (value instanceof Map) content.push(...value.keys(), ...value.values());
  else if (value instanceof Set) content.push(...value);
  for (let holder: unknown = value; isOwn(holder); holder = Object.getPrototypeOf(holder)) {
    for (const name of Reflect.ownKeys(holder))
      if (name !== "constructor") content.push(name, memberOf(value, name));
  }
  return content;
}

function memberOf(value: object, name: string | symbol): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

const builtIn: ReadonlySet<unknown> = new Set([
  Object.prototype,
  Array.prototype,
  Function.prototype,
  Error.prototype,
]);

function isOwn(holder: unknown): holder is object {
  return isObject(holder) && !builtIn.has(holder);
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

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
