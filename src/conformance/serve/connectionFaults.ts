// Makes the addresses for connection faults, where no server is reached, and certificates.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { memberOf } from "../../values.js";

export interface Address {
  readonly baseUrl: string;
  readonly proxy?: string;
  /** Variables that a new program of the client gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The custom CA that signed the server's certificate, in PEM. */
  readonly caCertificate?: string;
}

type FaultAddress = { readonly address: Address; readonly close: () => unknown };

/** Returns what closes a server and destroys its connections. */
export function closerOf(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}

/** Thrown if this machine cannot produce a network fault; the message says why. The row with the fault is skipped. */
export class NotOnThisMachine extends Error {}

const unknownHost = "tunerank-conformance.invalid";
const loopback = "127.0.0.1";

/** Makes the address for each fault in which requests reach no server, by the name of the fault. */
export const unreachable: Readonly<Record<string, () => Promise<FaultAddress>>> = {
  refused: refusingPort,
  "name-not-found": () => unresolved("ENOTFOUND"),
  "name-server-busy": () => unresolved("EAI_AGAIN"),
  "connect-stalls": fullBacklog,
};

// An address where connections are refused: the local port of an open connection. It is in use, and no server listens
// there.
async function refusingPort(): Promise<FaultAddress> {
  const server = createServer();
  const close = closerOf(server);
  await once(server.listen(0, loopback), "listening");
  const { port } = server.address() as { port: number };
  const holder = connect(port, loopback).on("error", () => {});
  await once(holder, "connect");
  return { address: { baseUrl: `http://${loopback}:${holder.localPort}` }, close };
}

// An address with a host name that never exists. This machine's name server decides which error its lookup ends with.
async function unresolved(wanted: string): Promise<FaultAddress> {
  const found: unknown = await lookup(unknownHost).catch((error: unknown) => error);
  const code = memberOf(found, "code") ?? "an address";
  if (code !== wanted) throw new NotOnThisMachine(`a name lookup here ends in ${code}, not ${wanted}`);
  return { address: { baseUrl: `https://${unknownHost}` }, close: () => {} };
}

// A worker that listens, then blocks forever: the system makes connections until the backlog is full; none is accepted.
const sleeper = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer().listen({ port: 0, host: "${loopback}", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 10);
  });
`;

async function fullBacklog(): Promise<FaultAddress> {
  const worker = new Worker(sleeper, { eval: true });
  const fillers: Socket[] = [];
  const close = (): unknown => {
    for (const socket of fillers) socket.destroy();
    return worker.terminate();
  };
  const [port] = (await once(worker, "message")) as [number];
  await pause(50);
  for (let tries = 0; tries < 8; tries++) {
    const socket = connect(port, loopback).on("error", () => {});
    fillers.push(socket);
    const connected = once(socket, "connect").catch(() => false);
    if (!(await Promise.race([connected, pause(300, false)])))
      return { address: { baseUrl: `http://${loopback}:${port}` }, close };
  }
  await close();
  throw new NotOnThisMachine("the system makes connections beyond a listener's backlog");
}

// The DER tags that a certificate uses.
const tags = { boolean: 1, integer: 2, bits: 3, octets: 4, oid: 6, text: 12, time: 23, list: 48, set: 49 };
const dayMs = 86_400_000;

/**
 * Makes a certificate and its CA, so that no private key is shipped.
 * @param host The only host name that it is valid for. @default 127.0.0.1 and localhost
 */
export function createCertificate(of: {
  readonly host?: string;
  readonly isExpired?: boolean;
}): Readonly<Record<"cert" | "ca" | "key", string>> {
  const newKeys = (): Keys => generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const [authority, own] = [newKeys(), newKeys()];
  const { host = "localhost", isExpired } = of;
  const names = [der(0x82, host), ...(of.host ? [] : [der(0x87, Buffer.from([127, 0, 0, 1]))])];
  const yes = der(tags.boolean, Buffer.from([0xff]));
  const extension = (id: number, value: Buffer, ...critical: readonly Buffer[]): Buffer =>
    sequence(oid(0x55, 0x1d, id), ...critical, der(tags.octets, value));
  // What strict verification asks for: basicConstraints, keyUsage (keyCertSign) and the identifier of the CA's key.
  const keyId = randomBytes(20);
  const ofAuthority = [
    extension(0x13, sequence(yes), yes),
    extension(0x0f, der(tags.bits, Buffer.from([2, 4])), yes),
    extension(0x0e, der(tags.octets, keyId)),
  ];
  const ofOwn = [extension(0x11, sequence(...names)), extension(0x23, sequence(der(0x80, keyId)))];
  return {
    cert: signed(authority, own, host, ofOwn, isExpired ? -1 : 1),
    ca: signed(authority, authority, issuer, ofAuthority, 1),
    key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

type Keys = Record<"publicKey" | "privateKey", KeyObject>;

const issuer = "conformance";

// Signs a certificate of a public key. It ends so many days from now, which is in the past for a negative number.
function signed(
  { privateKey }: Keys,
  { publicKey }: Keys,
  subject: string,
  extensions: readonly Buffer[],
  days: number,
): string {
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const named = (name: string): Buffer =>
    sequence(der(tags.set, sequence(oid(0x55, 0x04, 0x03), der(tags.text, name))));
  // A DER UTCTime, such as 261122063000Z.
  const time = (day: number): Buffer =>
    der(tags.time, new Date(Date.now() + day * dayMs).toISOString().replace(/^20|[-:T]|\.\d+/g, ""));
  const toSign = sequence(
    der(0xa0, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    named(issuer),
    sequence(time(-3), time(days)),
    named(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", toSign, privateKey);
  const content = sequence(toSign, algorithm, der(tags.bits, Buffer.from([0]), signature));
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(tags.list, ...parts);
const oid = (...bytes: readonly number[]): Buffer => der(tags.oid, Buffer.from(bytes));
