import type { Flow } from "./node/decode.js";
// What undici 6 tells of a request, as undici 7 and 8 do.

import { headersFrom } from "./node/decode.js";

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

/** Has undici 6 call what 7 and 8 call. */
export abstract class LegacyHandler {
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
