// Sends through undici's `dispatch`. Loaded only when a client has a dispatcher, as a file by itself: the class that the
// rest knows failures by is passed in.
import type { DispatcherLike } from "../options/clientOptions.js";
import {
  answerIn,
  type Controller,
  type Details,
  DispatcherAnswer,
  DispatchOptions,
  errorOf,
  FormBytes,
  type Headers,
  meaningOf,
} from "./dispatched.js";
import { LegacyHandler } from "./legacyHandler.js";
import type { BodyListener } from "./node/decode.js";
import {
  acceptEncodings,
  answeredEarly,
  type Exchange,
  type FailureReason,
  isForm,
  type Phase,
  type TransportFailure,
  type TransportRequest,
  type TransportResponse,
  textOf,
} from "./transport.js";
import { phaseAtError, phaseWithoutStart, refuseStart, sawNoStart, sawStart } from "./unannounced.js";

type FailureClass = typeof TransportFailure;

/** One request under way, and what hears of it: of undici 6 by onConnect and its like, of 7 and 8 by onRequestStart. */
export class DispatcherExchange extends LegacyHandler implements Exchange, BodyListener {
  readonly response: Promise<TransportResponse>;
  readonly #dispatcher: DispatcherLike;
  readonly #Failure: FailureClass;
  // Undefined once it has ended: what still waits for a connection holds no more than undici does.
  #request: TransportRequest | undefined;
  #form: FormBytes | undefined;
  #controller: Controller | undefined;
  #answer: DispatcherAnswer | undefined;
  // What it has heard of the request.
  #heard = 0;
  // Whether `dispatch` has not yet returned, and whether an error was heard of.
  #isEarly = false;
  #isTold = false;
  #resolve!: (response: TransportResponse) => void;
  #reject!: (failure: TransportFailure) => void;

  constructor(dispatcher: DispatcherLike, request: TransportRequest, failure: FailureClass) {
    super();
    this.#dispatcher = dispatcher;
    this.#request = request;
    this.#Failure = failure;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#begin(request);
  }

  get answer(): DispatcherAnswer | undefined {
    return this.#answer;
  }

  // Until it starts, undici may wait for a connection to come about or to be free: it does not say which.
  get phase(): Phase {
    if (this.#answer) return "body";
    return this.#controller ? "headers" : phaseWithoutStart(this.#dispatcher);
  }

  get arrived(): number | undefined {
    if (this.#request === undefined) return Number.NaN;
    return this.phase === "connect" ? undefined : this.#heard + (this.#answer?.arrived ?? 0);
  }

  #begin({ url, method, headers, body }: TransportRequest): void {
    acceptEncodings(headers, body);
    if (isForm(body)) {
      this.#form = new FormBytes(body, (text, cause) => this.failed(text, { reason: "source", cause }));
      if (body.size !== undefined) headers["content-length"] = String(body.size);
    }
    const options = new DispatchOptions(url, method, headers, this.#form ?? body);
    this.#isEarly = true;
    try {
      const taken: unknown = this.#dispatcher.dispatch(options as never, this as never);
      // An async interceptor rejects.
      if (typeof taken === "object") Promise.resolve(taken).catch((thrown) => this.#broke(thrown, true));
    } catch (thrown) {
      this.#broke(thrown, true);
    }
    this.#isEarly = false;
  }

  abort(reason: FailureReason): void {
    this.failed("The request was ended.", { reason });
  }

  onRequestStart(controller: Controller): void {
    const request = this.#request;
    const isFirst = this.#controller === undefined;
    this.#controller = controller;
    this.#heard += 1;
    // It ended while it was queued, and undici has no way to take it back: nothing of it is sent.
    if (request === undefined) refuseStart(controller, () => this.#isTold);
    // A request that HTTP/2 refused begins again.
    else if (isFirst) request.lifetime.started();
    sawStart(this.#dispatcher);
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    // Not those that come before the answer, such as 103.
    if (this.#request === undefined || status < 200) return;
    if (this.#controller === undefined) sawNoStart(this.#dispatcher);
    this.#heard += 1;
    this.#answer = new DispatcherAnswer(status, this.#request.maxResponseBytes, headers);
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#request !== undefined) this.#answer?.take(chunk, controller, this);
  }

  onResponseEnd(): void {
    if (this.#request !== undefined) this.#answer?.end(this);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#isTold = true;
    this.#broke(error, false);
  }

  failed(text: string, details: Details): void {
    if (this.#request === undefined) return;
    const status = this.#answer?.status;
    const failure = new this.#Failure(text, { phase: this.phase, status, ...details });
    this.#settle();
    this.#reject(failure);
    this.#controller?.abort(failure);
  }

  ended(): void {
    const answer = this.#answer;
    // A file that is not there whole was not taken, whatever the answer says.
    if (answer?.ok && this.#form?.incomplete) this.failed(answeredEarly, {});
    if (this.#request === undefined || answer === undefined) return;
    if (answer.ok) this.#form?.answered();
    this.#settle();
    this.#resolve(answer);
  }

  broken(cause: Error, undecodable: boolean): void {
    const why = undecodable ? "cannot be decoded" : "was cut short";
    this.#cut(`The answer's body ${why}: ${textOf(cause)}`, { cause });
  }

  tooLarge(limit: number): void {
    this.#cut(`The answer is larger than ${limit} bytes.`, { reason: "too-large" });
  }

  #broke(thrown: unknown, isThrown: boolean): void {
    if (this.#request === undefined) return;
    const cause = errorOf(thrown);
    const isAnswered = this.#answer !== undefined;
    if (!isAnswered) this.#answer = answerIn(cause, this);
    if (isAnswered) this.broken(cause, false);
    else if (this.#answer) this.ended();
    else this.failed(...meaningOf(cause, this.#phaseAt(cause), isThrown));
  }

  #phaseAt(error: Error): Phase {
    return this.#controller ? "headers" : phaseAtError(error, this.phase, this.#isEarly);
  }

  // An error answer is understood from what came of it; a 2xx must be whole.
  #cut(text: string, details: Details): void {
    const { ok = false } = this.#answer ?? {};
    if (ok) this.failed(text, details);
    else {
      this.ended();
      this.#controller?.abort(new Error(text));
    }
  }

  #settle(): void {
    this.#request = undefined;
    this.#form?.end();
  }
}
