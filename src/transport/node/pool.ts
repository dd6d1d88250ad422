import { AsyncResource } from "node:async_hooks";
import type http from "node:http";
import { longestTimerMs } from "../../options/arguments.js";
import { nextTurn } from "../time.js";
import type { TransportRequest } from "../transport.js";
import {
  idleMsLeft,
  idleSinceOf,
  idleSockets,
  type PoolCall,
  type PooledSocket,
  type PoolOptions,
  requestOptions,
  withoutIdle,
} from "./connect.js";

// A server that reads no more of a request that it has answered would keep its connection for ever.
const longestWriteMs = 1000;
// With so few under way the server would have nothing to do meanwhile.
const fewAtOnce = 4;

/** The sockets to one origin: how many calls use them at once, and for how long idle ones are kept. */
export class Pool {
  readonly agent: http.Agent;
  readonly advice: string | undefined;
  /** The clients that have used it and not been closed. */
  clients = 0;
  /** Set for good when nothing was open any more: the next call takes another pool. */
  retired = false;
  readonly #options: PoolOptions;
  readonly #prefix: string;
  readonly #waiting: Map<PoolCall, () => void> = new Map();
  // Requests that were answered before they were written.
  readonly #unsent: Set<http.ClientRequest> = new Set();
  #atWork = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions, url: URL) {
    this.#options = options;
    this.agent = options.agent;
    this.advice = options.advice;
    const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
    // How agents begin the names of their sockets.
    this.#prefix = `${host}:${url.port || (url.protocol === "https:" ? 443 : 80)}:`;
  }

  /**
   * Lets a call start: at once where few are under way, else once all answers that have arrived are read, because requests
   * that leave together cost a fifth less than those that each wake the server; or when others have left.
   */
  enter(call: PoolCall): void {
    if (this.#hasPlace && this.#waiting.size === 0) {
      const isOneOfFew = this.#atWork < fewAtOnce;
      this.#admit(call);
      if (isOneOfFew || call.fresh) call.start();
      else nextTurn(() => call.start());
    } else {
      // Bound, so that traces and the like see the call's own context, not that of the call that left.
      const admit = AsyncResource.bind(() => {
        this.#admit(call);
        call.start();
      });
      this.#waiting.set(call, admit);
    }
  }

  /** Ends a call's wait or gives its place to another. */
  leave(call: PoolCall): void {
    if (this.#waiting.delete(call)) return;
    this.#atWork--;
    if (this.clients === 0 && !this.#isAtWork) {
      this.#retire();
      return;
    }
    const { keepAliveMs } = this.#options;
    if (this.#sweeper === undefined && keepAliveMs !== undefined) this.#sweepLater(keepAliveMs);
    // By then the socket of the call that left is idle.
    if (this.#waiting.size > 0) nextTurn(() => this.#next());
  }

  /** Ends a call's request. Its place is free once its socket is closed, or its agent knows that there will be none. */
  release(call: PoolCall, message: http.ClientRequest | undefined): void {
    const leave = () => this.leave(call);
    if (message === undefined || message.closed) leave();
    else if (message.socket) message.once("close", leave);
    else nextTurn(leave);
    message?.destroy();
  }

  /**
   * Lets a call go that was answered before all of its request was written. Once that is written its connection serves
   * others; one whose bytes were not all handed over, or are not taken, ends.
   */
  leaveWhenSent(call: PoolCall, message: http.ClientRequest): void {
    if (this.clients === 0 || !message.writableEnded) {
      this.release(call, message);
      return;
    }
    this.#unsent.add(message);
    const timer = setTimeout(() => message.destroy(), longestWriteMs);
    message.once("close", () => {
      clearTimeout(timer);
      this.#unsent.delete(message);
      this.leave(call);
    });
  }

  /** Sends a request, on a new connection when it asks for one. */
  request(request: TransportRequest, fresh: boolean): http.ClientRequest {
    const { module, agent, tunnels } = this.#options;
    const options = requestOptions(request, this.#options);
    // Without it Node would wait for a tunnel without end.
    if (tunnels) options.timeout = Math.min(request.connectTimeoutMs, longestTimerMs);
    return fresh ? withoutIdle(agent, () => module.request(options)) : module.request(options);
  }

  /** How long an idle socket may be used again, when its server announced that it ends it after so long. */
  keepMs(announcedMs: number): number {
    const { keepAliveMs } = this.#options;
    return keepAliveMs === undefined ? Number.POSITIVE_INFINITY : Math.min(keepAliveMs, announcedMs);
  }

  endIdle(which: (socket: PooledSocket) => boolean): void {
    for (const socket of this.#idle()) if (which(socket)) socket.destroy();
  }

  /** Ends the sockets that have been idle for at least as long as one that was found closed. */
  endIdleAs(lost: PooledSocket | undefined): void {
    const since = (lost && idleSinceOf(lost)) ?? Number.NEGATIVE_INFINITY;
    this.endIdle((socket) => (idleSinceOf(socket) ?? 0) <= since);
  }

  /** Ends all idle sockets, and those at work with what they do: until then the limit counts them. */
  close(): void {
    this.agent.maxFreeSockets = 0;
    this.endIdle(() => true);
    this.endUnsent();
    if (!this.#isAtWork) this.#retire();
  }

  /** Ends the connections of requests that were answered before they were written. */
  endUnsent(): void {
    for (const message of this.#unsent) message.destroy();
  }

  #admit(call: PoolCall): void {
    this.#atWork++;
    // A new connection takes the place of the one that was idle longest.
    if (call.fresh)
      this.#idle()
        .find(({ destroyed }) => !destroyed)
        ?.destroy();
  }

  get #isAtWork(): boolean {
    return this.#atWork > 0 || this.#waiting.size > 0;
  }

  get #hasPlace(): boolean {
    return this.#atWork < this.#options.limit;
  }

  #idle(): PooledSocket[] {
    return idleSockets(this.agent, this.#prefix);
  }

  #next(): void {
    for (const [call, admit] of this.#waiting) {
      if (!this.#hasPlace) return;
      this.#waiting.delete(call);
      admit();
    }
  }

  #sweepLater(ms: number): void {
    const sweeper = setTimeout(() => this.#sweep(), ms);
    // In a window of Electron a timer is a number.
    sweeper.unref?.();
    this.#sweeper = sweeper;
  }

  #sweep(): void {
    this.endIdle((socket) => idleMsLeft(socket) <= 0);
    const { keepAliveMs = 0 } = this.#options;
    const left = this.#idle().map(idleMsLeft);
    if (!this.#isAtWork && left.length === 0) this.#retire();
    // When the next one expires; not for each of them, should there be many.
    else this.#sweepLater(Math.max(Math.min(keepAliveMs, ...left), keepAliveMs / 4));
  }

  #retire(): void {
    clearTimeout(this.#sweeper);
    this.retired = true;
    this.#options.onEmpty?.();
  }
}
