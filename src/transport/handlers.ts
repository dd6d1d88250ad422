// What hears of a dispatched request: undici 6 calls it otherwise than undici 7 and 8; and how far a request got whose start
// nobody announced, because an interceptor kept it to itself.
import { subscribe } from "node:diagnostics_channel";
import { types } from "node:util";
import type { DispatcherLike } from "../options/clientOptions.js";
import { memberOf } from "../values.js";
import { BaseExchange, type ReceivedResponse } from "./exchange.js";
import { type Flow, headersFrom } from "./node/body.js";
import { isBeforeConnection } from "./node/networkErrors.js";
import { networkCode, type Phase } from "./transport.js";

/** What ends and slows a request: undici 7 and 8 have an object for it. */
export interface Controller extends Flow {
  abort(reason: Error): void;
}

/** An answer's headers, as undici 7 and 8 have them. */
export type DispatchHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Ends and slows a request of undici 6, which asks at each chunk whether to go on. */
class LegacyController implements Controller {
  paused = false;
  /** What undici is told when it may go on. */
  resumed: () => void = () => {};
  readonly abort: (reason: Error) => void;

  constructor(abort: (reason: Error) => void) {
    this.abort = abort;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.resumed();
  }
}

/** An exchange that undici 6 calls as 7 and 8 do. */
export abstract class DispatchHandler<R extends ReceivedResponse> extends BaseExchange<R> {
  #legacy: LegacyController | undefined;

  abstract onRequestStart(controller: Controller): void;
  abstract onResponseStart(controller: Controller, status: number, headers: DispatchHeaders): void;
  abstract onResponseData(controller: Controller, chunk: Uint8Array): void;
  abstract onResponseEnd(): void;
  abstract onResponseError(controller: Controller | null, error: Error): void;

  onConnect(abort: (reason: Error) => void): void {
    this.#legacy = new LegacyController(abort);
    this.onRequestStart(this.#legacy);
  }

  onHeaders(status: number, raw: readonly Uint8Array[], resume: () => void): boolean {
    // An interceptor may answer without a start.
    this.#legacy ??= new LegacyController(() => {});
    const controller = this.#legacy;
    controller.resumed = resume;
    this.onResponseStart(controller, status, headersFrom(raw));
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    const controller = this.#legacy as LegacyController;
    this.onResponseData(controller, chunk);
    return !controller.paused;
  }

  onComplete(): void {
    this.onResponseEnd();
  }

  onError(error: Error): void {
    this.onResponseError(null, error);
  }
}

// Whether a dispatcher was seen to announce starts.
const announces = new WeakMap<DispatcherLike, boolean>();

/** A request has started. */
export function sawStart(dispatcher: DispatcherLike): void {
  if (!announces.has(dispatcher)) announces.set(dispatcher, true);
}

/** A request was answered without a start. */
export function sawNoStart(dispatcher: DispatcherLike): void {
  announces.set(dispatcher, false);
}

/** What is known without an error: undici's own announce starts; one composed with interceptors, a proxy, has to show it. */
export function phaseWithoutStart(dispatcher: DispatcherLike): Phase {
  const isPlain = "compose" in dispatcher && !types.isProxy(dispatcher);
  return (announces.get(dispatcher) ?? isPlain) ? "connect" : "headers";
}

// Errors of connections that never came about: a reset in a TLS handshake looks like one after a request was sent.
const neverConnected = new WeakSet<object>();
subscribe("undici:client:connectError", (message) => {
  const error = memberOf(message, "error");
  if (typeof error === "object" && error !== null) neverConnected.add(error);
});

/** What an error adds. @param phase What is known without it. @param isEarly Whether `dispatch` had not yet returned. */
export function phaseAtError(error: Error, phase: Phase, isEarly: boolean): Phase {
  if (neverConnected.has(error) || isBeforeConnection(error)) return "connect";
  const isLost = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(networkCode(error));
  if (isLost || /^(read|write)/.test(String(memberOf(error, "syscall")))) return "headers";
  return isEarly ? "connect" : phase;
}

/** What undici and interceptors are told of a request that needs no more. */
export const endedText = "The request was ended.";

/** Has undici not send a request that has ended. @param isTold Whether an error of the request was heard of. */
export function refuseStart(controller: Controller, isTold: () => boolean): void {
  const ended = new Error(endedText);
  controller.abort(ended);
  // Interceptors such as `dump` keep that to themselves: what is thrown, undici itself takes.
  if (!isTold()) throw ended;
}
