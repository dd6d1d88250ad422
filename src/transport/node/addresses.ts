// A name may have several addresses. Node tries one after another, and ends each but the last after 250 ms (500 on Node
// 26), however long there is to connect.
import type { Agent } from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { addressesTried, type EndOfAddress } from "./networkErrors.js";

interface ConnectOptions {
  autoSelectFamilyAttemptTimeout?: number | undefined;
}

// Agents that this client made: those of a caller are left as they are.
const own = new WeakSet<object>();

/** Has an agent of this client's give the addresses of a name more time after an attempt that ended for want of it. */
export function sharesTime(agent: Agent): void {
  own.add(agent);
}

/** The addresses that a new socket of an agent's tries. */
export class Addresses {
  readonly socket: Socket;
  readonly #agent: object;
  // What the agent gave each when it opened the socket; undefined for what the platform does.
  readonly #msEach: number | undefined;
  readonly #found: Set<string> = new Set();
  readonly #ended: EndOfAddress[] = [];
  #timedOut = false;

  constructor(socket: Socket, agent: object) {
    this.socket = socket;
    this.#agent = agent;
    this.#msEach = connectOptions(agent).find(
      (options) => options.autoSelectFamilyAttemptTimeout,
    )?.autoSelectFamilyAttemptTimeout;
    // Node takes what Object.prototype has under an event's name for a listener.
    if (!("lookup" in Object.prototype))
      socket.on("lookup", (_error, address) => address && this.#found.add(address));
    socket
      .on("connectionAttemptFailed", (address, _port, _family, { code }: NodeJS.ErrnoException) =>
        this.#ended.push({ address, code }),
      )
      .on("connectionAttemptTimeout", (address) => {
        this.#timedOut = true;
        this.#ended.push({ address, code: "ETIMEDOUT" });
      });
  }

  /** How trying each ended; undefined unless there are several. @param error What all of them ended in, if they have. */
  tried(error?: unknown): string | undefined {
    const attempted = this.#attempted;
    if (attempted === undefined) return undefined;
    const ends = memberOf(error, "errors") ?? attempted.map((address) => this.#endOf(address));
    const { getDefaultAutoSelectFamilyAttemptTimeout: ofPlatform } = process.getBuiltinModule("node:net");
    return addressesTried(ends as EndOfAddress[], this.#count, this.#msEach ?? ofPlatform());
  }

  /**
   * Notes that no connection came about. Where an address was given up too early, the next sockets of the same agent give
   * each its share of the time to connect.
   * @param late Whether that time is over
   */
  failed(connectTimeoutMs: number, late: boolean): void {
    const isUntried = late && this.#count - this.#ended.length > 1;
    if (!this.#timedOut && !isUntried) return;
    this.#give(Math.max(Math.floor(Math.min(connectTimeoutMs, longestTimerMs) / this.#count), 1));
  }

  /** Notes that there is a connection: to the last address, for which the others need no longer time. */
  connected(): void {
    const isLast = this.#attempted?.length === this.#found.size;
    if (this.#msEach !== undefined && this.#timedOut && isLast) this.#give(undefined);
  }

  // Undefined where there is but one. Present from the first attempt on, also where the name was found at once.
  get #attempted(): readonly string[] | undefined {
    const { autoSelectFamilyAttemptedAddresses: attempted } = this.socket;
    return attempted?.map((address) => address.slice(0, address.lastIndexOf(":")));
  }

  get #count(): number {
    const { length } = this.#attempted ?? [];
    return length === 0 ? 1 : Math.max(this.#found.size, length, 2);
  }

  #endOf(address: string): EndOfAddress {
    const code = this.socket.connecting ? undefined : "";
    return this.#ended.find((end) => end.address === address) ?? { address, code };
  }

  #give(ms: number | undefined): void {
    if (!own.has(this.#agent)) return;
    for (const options of connectOptions(this.#agent)) options.autoSelectFamilyAttemptTimeout = ms;
  }
}

// What an agent connects with: itself, an agent of agent-base's kind to its proxy, Node's own to that of the environment.
function connectOptions(agent: object): readonly ConnectOptions[] {
  const ofProxy = Object.getOwnPropertySymbols(agent).find(
    ({ description }) => description === "kProxyConfig",
  );
  const found = [
    memberOf(agent, "options"),
    memberOf(agent, "connectOpts"),
    ofProxy && memberOf((agent as Readonly<Record<symbol, unknown>>)[ofProxy], "proxyConnectionOptions"),
  ];
  return found.filter((each): each is ConnectOptions => typeof each === "object" && each !== null);
}
