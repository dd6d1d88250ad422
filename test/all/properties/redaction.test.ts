import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { redactor } from "../../../src/redact/redact.js";
import { times, within } from "./support/runs.js";
import { layered } from "./support/spellings.js";
import { hostileString, visible } from "./support/strings.js";

// Never part of another text. A backslash at its end would stay, and is no secret.
const keyOf = (minLength: number) =>
  fc
    .tuple(
      fc.string({ unit: visible, minLength: minLength - 8, maxLength: 40 }),
      fc.constantFrom("sk-7Q9xZ", "/Q7&x<Z+", 'Z"\\?Q7x:'),
    )
    .map(([rest, mark]) => `${mark.slice(0, 5)}${rest}${mark.slice(5)}`);
const key = keyOf(8);

// None begins an escape or ends one.
const before = fc.constantFrom("", "la", "Wrong key ", '{"key":"', "/?key=", "<b>", "Bearer ", "key:\\n");
const after = fc.constantFrom("", " is wrong.", '","more":1}', "&page=1", "</b>", "\\n", ", ");

describe("a key of 8 characters or more", () => {
  test(
    "is taken out in every spelling, and nothing else is",
    () => {
      const spelled = fc.record({ left: before, secret: key, right: after, spell: layered });
      fc.assert(
        fc.property(spelled, ({ left, secret, right, spell }) => {
          const text = left + spell(secret).join("") + right;
          assert.equal(redactor(secret)(text), `${left}[redacted]${right}`);
        }),
        times(10_000),
      );
    },
    within(120_000),
  );

  test(
    "of which at least 8 characters came before the text was cut is taken out",
    () => {
      const cut = fc.record({ left: before, secret: keyOf(9), spell: layered, at: fc.nat() });
      fc.assert(
        fc.property(cut, ({ left, secret, spell, at }) => {
          const chars = spell(secret);
          const least = chars.slice(0, 8).join("").length;
          const text = chars.join("");
          const came = text.slice(0, least + (at % (text.length - least)));
          assert.equal(redactor(secret)(left + came, true), `${left}[redacted]`);
        }),
        times(10_000),
      );
    },
    within(120_000),
  );

  test(
    "of which at least its last 8 characters stand where a cut text begins is taken out",
    () => {
      const cut = fc.record({ right: after, secret: keyOf(9), spell: layered, at: fc.nat() });
      fc.assert(
        fc.property(cut, ({ right, secret, spell, at }) => {
          const chars = spell(secret);
          const came = chars.slice(1 + (at % (chars.length - 8))).join("");
          assert.equal(redactor(secret)(came + right, true), `[redacted]${right}`);
        }),
        times(10_000),
      );
    },
    within(120_000),
  );

  test(
    "is taken out of base64, wherever it begins there and in whatever spelling",
    () => {
      const encoded = fc.record({
        left: fc.uint8Array({ maxLength: 20 }),
        secret: keyOf(12),
        right: fc.uint8Array({ maxLength: 20 }),
        alphabet: fc.constantFrom("base64", "base64url"),
        spell: layered,
        whole: fc.boolean(),
        at: fc.nat(),
      });
      fc.assert(
        fc.property(encoded, ({ left, secret, right, alphabet, spell, whole, at }) => {
          const chars = spell(
            Buffer.concat([left, Buffer.from(secret), right]).toString(alphabet as "base64"),
          );
          // Those that hold bits of the key alone.
          const from = Math.ceil((8 * left.length) / 6);
          const to = Math.floor((8 * (left.length + secret.length)) / 6);
          const cutAt = whole ? chars.length : from + 11 + (at % (to - from - 10));
          const text = chars.slice(0, cutAt).join("");
          const rest = chars.slice(Math.min(cutAt, to), cutAt).join("");
          const redacted = redactor(secret)(text, !whole);
          assert.equal(redacted, `${chars.slice(0, from).join("")}[redacted]${rest}`);
        }),
        times(10_000),
      );
    },
    within(120_000),
  );

  test(
    "changes no text without it",
    () => {
      fc.assert(
        fc.property(key, hostileString, fc.boolean(), (secret, text, cut) => {
          assert.equal(redactor(secret)(text, cut), text);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );
});

describe("a key of fewer than 8 characters", () => {
  const short = fc.stringMatching(/^[a-z][\w./&+-]{0,5}[a-z]$/);
  const letters = fc.stringMatching(/^[A-Z]{0,6}$/);

  test(
    "is taken out in every spelling where it is a whole value",
    () => {
      const values = fc.constantFrom(
        ["", ""],
        [" ", "\n"],
        ['{"name":"', '"}'],
        ['{"name": ["', '", ""]}'],
        ["x-key: ", "\r\nhost: x"],
        ["x-key:", ""],
        ["/?name=", "&page=1"],
        ["/?name=", ""],
        ["Bearer ", ""],
        ['"bearer ', '"'],
        ["Bearer ", ", or another"],
      );
      fc.assert(
        fc.property(values, short, layered, ([left, right], secret, spell) => {
          const text = left + spell(secret).join("") + right;
          assert.equal(redactor(secret)(text), `${left}[redacted]${right}`);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );

  test(
    "changes no word that holds it, and no field's name",
    () => {
      const around = fc.tuple(letters, letters).filter(([left, right]) => left + right !== "");
      const frames = fc.constantFrom(["", ""], ['"', '"'], ["x: ", ""], ["/?a=", "&b=1"], ["Bearer ", ""]);
      fc.assert(
        fc.property(short, around, frames, fc.boolean(), (secret, [left, right], [start, end], cut) => {
          const word = `${start}${left}${secret}${right}${end}`;
          assert.equal(redactor(secret)(word, cut), word);
          const text = `a ${secret} b {"${secret}":1,"${secret}" : "${left}${secret}${right}"} ${secret}s`;
          assert.equal(redactor(secret)(text, cut), text);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );
});
