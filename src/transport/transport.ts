import { memberOf } from "../errors/memberOf.js";
import type { Multipart } from "../files/multipart.js";

/** How far a request got. */
export type Phase = "connect" | "send" | "headers" | "body";

/** One HTTP request, ready to be sent. */
export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case; `content-type` included, `content-length` not. The transport may add to them. */
  readonly headers: Record<string, string>;
  readonly body: string | Multipart | undefined;
  /** The most decoded bytes to take of a 2xx answer. */
  readonly maxResponseBytes: number;
  /** True for calls that may not be repeated: a socket the server may just be closing is not used. */
  readonly freshSocket: boolean;
  readonly connectTimeoutMs: number;
  /** Notified once the request has a connection of its own. */
  readonly lifetime: { connected(): void };
}

/** A whole answer; `text` is its decoded body. An error answer cut short still counts, with what came. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One request under way. */
export interface Exchange {
  readonly response: Promise<TransportResponse>;
  /** How far it got. */
  readonly phase: Phase;
  /** The answer's status, once its headers came. */
  readonly status: number | undefined;
  /** Ends it: `response` rejects at once. */
  abort(reason: "aborted" | "attempt-timeout"): void;
}

/** What a transport is made with. */
export interface TransportOptions {
  readonly maxConnections: number;
  /** An agent of node:http or node:https of the caller's. */
  readonly agent: object | undefined;
}

/** Sends requests. Follows no redirect and repeats nothing. */
export interface Transport {
  send(request: TransportRequest): Exchange;
  /** Ends idle sockets; those at work end with what they do. */
  close(): void;
}

/** Why a request brought no whole answer. */
export type FailureReason =
  | "network"
  | "connect-timeout"
  | "attempt-timeout"
  | "too-large"
  | "aborted"
  | "agent"
  | "source";

/** The one error a transport rejects with. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
  readonly phase: Phase;
  readonly reason: FailureReason;
  /** The answer's status when its headers came. */
  readonly status: number | undefined;

  constructor(
    message: string,
    details: {
      phase: Phase;
      reason?: FailureReason;
      status?: number | undefined;
      cause?: unknown;
    },
  ) {
    const own: typeof details = Object.assign(Object.create(null), details);
    super(message, own.cause === undefined ? undefined : { cause: own.cause });
    this.phase = own.phase;
    this.reason = own.reason ?? "network";
    this.status = own.status;
  }
}

/** The most bytes read of an error answer. */
export const maxErrorBytes: number = 64 * 1024;

/** The message when reading the file failed, not the network. */
export const sourceFailed = "Reading the file failed.";

/** The message when a 2xx came before the whole file was sent. */
export const answeredEarly = "The answer came before the whole file was sent.";

/** What the network calls an error, or "". Node's fetch says only "fetch failed": what happened is in its cause. */
export function networkCode(error: unknown): string {
  return String(memberOf(error, "code") ?? memberOf(memberOf(error, "cause"), "code") ?? "");
}
