// A certificate of 127.0.0.1 and localhost, made when it is needed: no key is ever shipped.
import { createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A self-signed certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

// The tags of DER that a certificate has.
const tags = {
  integer: 2,
  bits: 3,
  octets: 4,
  oid: 6,
  text: 12,
  sequence: 48,
  set: 49,
  time: 23,
  boolean: 1,
};

/** Makes one, valid for two days. */
export function createCertificate(): Certificate {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(der(tags.set, sequence(oid(0x55, 0x04, 0x03), der(tags.text, "localhost"))));
  const day = 86_400_000;
  const validity = sequence(time(Date.now() - day), time(Date.now() + day));
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const toSign = sequence(
    der(0xa0, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, serial),
    algorithm,
    name,
    validity,
    name,
    publicKey,
    der(0xa3, extensions()),
  );
  const signature = sign("sha256", toSign, privateKey);
  const whole = sequence(toSign, algorithm, der(tags.bits, Buffer.from([0]), signature));
  return { cert: pem(whole), key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

// It is its own authority, for two names.
function extensions(): Buffer {
  const names = sequence(der(0x82, "localhost"), der(0x87, Buffer.from([127, 0, 0, 1])));
  const authority = sequence(der(tags.boolean, Buffer.from([0xff])));
  return sequence(
    sequence(oid(0x55, 0x1d, 0x11), der(tags.octets, names)),
    sequence(oid(0x55, 0x1d, 0x13), der(tags.boolean, Buffer.from([0xff])), der(tags.octets, authority)),
  );
}

function der(tag: number, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  const sized = length < 128 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...sized]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(tags.sequence, ...parts);
}

function oid(...bytes: readonly number[]): Buffer {
  return der(tags.oid, Buffer.from(bytes));
}

// UTCTime: 261122063000Z.
function time(ms: number): Buffer {
  return der(tags.time, new Date(ms).toISOString().replace(/^20|[-:T]|\.\d+/g, ""));
}

function pem(content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
