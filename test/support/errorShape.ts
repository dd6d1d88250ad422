import { expect } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { connect, failureOf } from "./clients.js";
import type { RecordingServer } from "./recordingServer.js";
import { withHint } from "./withHint.js";

/** An error answer, and what the StatusError must say: code, whether the body named it, message. */
export interface ErrorShape {
  readonly shape: string;
  readonly status: number;
  readonly json: unknown;
  readonly code: string;
  readonly named: boolean;
  readonly message?: string;
}

/** Answers a call with the shape and checks what becomes of it. */
export async function expectShape(
  server: RecordingServer,
  options: ClientOptions,
  { status, json, code, named, message }: ErrorShape,
): Promise<void> {
  server.reply({ status, json });
  const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
  expect(error).toMatchObject({ code, httpStatus: status, codeSource: named ? "body" : "status" });
  if (named) expect(error.inferred).toBe(false);
  if (message === undefined) expect(error.message).toMatch(new RegExp(`^\\[${code}\\] .*HTTP ${status}`));
  else expect(error.message).toBe(withHint(`[${code}] ${message}`, error));
  expect(error.body).toEqual(json);
}
