import { isDeepStrictEqual } from "node:util";
import type { RecordedRequest } from "./recordingMock.js";

/** What two clients must send alike. */
export interface Essence {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly mediaType: string | undefined;
  readonly body: unknown;
}

/** The parts of a request that do not depend on who sent it: no boundary, no spacing, no user agent. */
export async function essenceOf({ method, url, headers, body }: RecordedRequest): Promise<Essence> {
  const contentType = headers["content-type"] ?? "";
  const mediaType = contentType.split(";")[0]?.trim().toLowerCase();
  const { authorization } = headers;
  const read = mediaType === "multipart/form-data" ? readForm(contentType, body) : readJson(body);
  return { method, url, authorization, mediaType, body: await read };
}

/** What differs between two values, one line for each of their members. */
export function differences(expected: object, actual: object): string[] {
  const wanted = Object.entries(expected);
  const got = new Map(Object.entries(actual));
  return wanted
    .filter(([key, value]) => !isDeepStrictEqual(value, got.get(key)))
    .map(([key, value]) => `${key}: expected ${show(value)}, got ${show(got.get(key))}`);
}

async function readJson(body: Buffer<ArrayBuffer>): Promise<unknown> {
  try {
    return JSON.parse(body.toString());
  } catch {
    return { notJson: body.toString() };
  }
}

// The file's name is not compared: how a client takes a file is its own affair. That it is a file is.
async function readForm(contentType: string, body: Buffer<ArrayBuffer>): Promise<unknown> {
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  const parts = [...form].map(async ([name, value]) =>
    typeof value === "string" ? { name, value } : { name, bytes: Buffer.from(await value.arrayBuffer()) },
  );
  return Promise.all(parts);
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300) ?? "nothing";
}
