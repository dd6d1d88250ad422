import type http from "node:http";
import type { FailureReason } from "../transport.js";

/** What a pool is made with. */
export interface PoolOptions {
  readonly module: typeof http;
  readonly agent: http.Agent;
  /** The protocol, for agents that may ask a request for it; Node's own know theirs. */
  readonly protocol?: string | undefined;
  /** The most sockets open at once. */
  readonly limit: number;
  /** Milliseconds that an idle socket is kept; undefined where its agent's owner decides. */
  readonly keepAliveMs: number | undefined;
  /** Whether Node's own agent opens tunnels (NODE_USE_ENV_PROXY). */
  readonly tunnels?: boolean | undefined;
  /** What else may be behind a connection that never came to be. */
  readonly advice?: string | undefined;
  /** Called when nothing is open any more. */
  readonly onEmpty?: () => void;
}

/** A call that needs a socket. */
export interface PoolCall {
  /** Whether it needs a new connection. */
  readonly fresh: boolean;
  /** Called once it may have one. */
  start(): void;
}

/** Hears what becomes of an answer's body. */
export interface BodyListener {
  ended(): void;
  /** It broke off, or is not what its content encoding says. */
  broken(cause: Error, undecodable: boolean): void;
  tooLarge(limit: number): void;
}

/** What brings an answer's bytes: a message of node:http, or a dispatcher. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** What becomes of a connection. */
export interface ConnectListener {
  connected(): void;
  failed(text: string, details: { reason: FailureReason; status?: number; advice?: string }): void;
}
