// The sockets that requests to one origin share.
import { AsyncResource } from "node:async_hooks";
import type http from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { nextTurn } from "../time.js";
import type { TransportRequest } from "../transport.js";
import { idleSockets, requestOptions, withoutIdle } from "./quirks.js";

export interface PoolOptions {
  readonly module: typeof http;
  readonly agent: http.Agent;
  /** The protocol, for agents that may ask a request for it; Node's own know theirs. */
  readonly protocol?: string | undefined;
  readonly limit: number;
  /** Milliseconds that an idle socket is kept; undefined where its agent's owner decides. */
  readonly keepAliveMs: number | undefined;
  /** Whether Node's own agent opens tunnels (NODE_USE_ENV_PROXY). */
  readonly tunnels?: boolean | undefined;
  /** What to tell of a connection that never came to be. */
  readonly advice?: string | undefined;
  readonly onEmpty?: () => void;
}

export interface PoolCall {
  /** Whether it needs a new connection. */
  readonly fresh: boolean;
  /** Called once it may have one. */
  start(): void;
}

const idleSince: unique symbol = Symbol("idleSince");
const idleUntil: unique symbol = Symbol("idleUntil");

/** A socket that an agent keeps between requests. */
export type PooledSocket = Socket & { [idleSince]?: number; [idleUntil]?: number };

/** Notes that a socket goes back to its agent, which may give it out again for so long. */
export function markIdle(socket: PooledSocket, keepMs: number): void {
  const now = performance.now();
  socket[idleSince] = now;
  socket[idleUntil] = now + keepMs;
}

/** When a socket's last response ended; undefined before its first. */
export function idleSinceOf(socket: PooledSocket): number | undefined {
  return socket[idleSince];
}

/** For how many milliseconds an idle socket may still be used again. */
export function idleMsLeft(socket: PooledSocket): number {
  return (socket[idleUntil] ?? Number.POSITIVE_INFINITY) - performance.now();
}

// A server that reads no more of a request that it has responded to would keep its connection for ever.
const longestWriteMs = 1000;
// With so few requests under way the server would have nothing to do meanwhile.
const fewAtOnce = 4;

/** The sockets to one origin: how many calls use them at once, and for how long idle ones are kept. */
export class Pool {
  readonly agent: http.Agent;
  readonly advice: string | undefined;
  /** Whether this client made the agent. */
  readonly isOwn: boolean;
  /** The clients that have used it and not been closed. */
  clients = 0;
  /** Set for good when nothing was open any more: the next call takes another pool. */
  retired = false;
  readonly #options: PoolOptions;
  readonly #prefix: string;
  readonly #waiting: Map<PoolCall, () => void> = new Map();
  // Requests whose responses came before they were written.
  readonly #unsent: Set<http.ClientRequest> = new Set();
  #atWork = 0;
  #sweeper: NodeJS.Timeout | undefined;
  // The last Keep-Alive header and what it means: a server announces the same time with every response.
  #announced: string | undefined;
  #announcedMs = Number.POSITIVE_INFINITY;

  constructor(options: PoolOptions, url: URL) {
    this.#options = options;
    this.agent = options.agent;
    this.advice = options.advice;
    this.isOwn = options.keepAliveMs !== undefined;
    const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
    // How agents begin the names of their sockets.
    this.#prefix = `${host}:${url.port || (url.protocol === "https:" ? 443 : 80)}:`;
  }

  /**
   * Lets a call start: at once where few are under way, else once all responses that have arrived are read, because requests
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
    // In the next turn the socket of the call that left is idle.
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
   * Lets a call go whose response came before all of its request was written. Once that is written its connection serves
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
    // Without a time Node would wait for a tunnel without end.
    if (tunnels) options.timeout = Math.min(request.connectTimeoutMs, longestTimerMs);
    return fresh ? withoutIdle(agent, () => module.request(options)) : module.request(options);
  }

  /** How long an idle socket may be used again: by a header (`Keep-Alive: max=100, timeout=5`) at most a second less. */
  keepMs(announced: string | undefined): number {
    const { keepAliveMs } = this.#options;
    if (keepAliveMs === undefined) return Number.POSITIVE_INFINITY;
    if (announced !== this.#announced) {
      const seconds = /(?:^|[\s,;])timeout\s*=\s*"?(\d+)/i.exec(announced ?? "")?.[1];
      this.#announced = announced;
      this.#announcedMs = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - 1000;
    }
    return Math.min(keepAliveMs, this.#announcedMs);
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

  /** Ends the connections of requests whose responses came before they were written. */
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
    // Sweeps again when the next socket expires; not for each of them, should there be many.
    else this.#sweepLater(Math.max(Math.min(keepAliveMs, ...left), keepAliveMs / 4));
  }

  #retire(): void {
    clearTimeout(this.#sweeper);
    this.retired = true;
    this.#options.onEmpty?.();
  }
}
