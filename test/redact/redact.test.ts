import { describe, expect, test } from "vitest";
import { redactor, redactValues } from "../../src/redact/redact.js";

const key = 'sk-4/9a&b"7<c\\6d+e';

type Example = readonly [how: string, text: string];

const spellings: readonly Example[] = [
  ["as it is", 'sk-4/9a&b"7<c\\6d+e'],
  ["as JSON.stringify writes it", 'sk-4/9a&b\\"7<c\\\\6d+e'],
  ["with its slash escaped", 'sk-4\\/9a&b\\"7<c\\\\6d+e'],
  ["with \\u escapes for HTML's characters", 'sk-4/9a\\u0026b\\"7\\u003cc\\\\6d+e'],
  ["with \\u escapes in upper case", "sk-4\\u002F9a&b\\u00227\\u003Cc\\u005C6d\\u002Be"],
  ["with \\u escapes for some letters", 's\\u006B-4/9\\u0061&b\\"7<c\\\\6d+e'],
  ["in JSON within JSON", 'sk-4\\\\\\/9a\\\\u0026b\\\\\\"7<c\\\\\\\\6d+e'],
  ["as a URL's component", "sk-4%2F9a%26b%227%3Cc%5C6d%2Be"],
  ["as a URL's component in lower case", "sk-4%2f9a%26b%227%3cc%5c6d%2be"],
  ["with some of it percent-encoded", 'sk%2D4/9a&b"7<c\\6%64+e'],
  ["percent-encoded twice", "sk-4%252F9a%2526b%25227%253Cc%255C6d%252Be"],
  ["with HTML's names", "sk-4/9a&amp;b&quot;7&lt;c\\6d+e"],
  ["with HTML's names for everything", "sk-4&sol;9a&AMP;b&QUOT;7&LT;c&bsol;6d&plus;e"],
  ["with HTML's numbers", "sk-4&#47;9a&#38;b&#034;7&#60;c&#92;6d&#43;e"],
  ["with HTML's hexadecimal numbers", "sk-4&#x2F;9a&#x26;b&#X22;7&#x003c;c&#x5C;6d+e"],
  ["as HTML in JSON", "sk-4\\/9a\\u0026amp;b\\u0026quot;7\\u0026lt;c\\\\6d+e"],
  ["as a URL in HTML", "sk-4%2F9a&#37;26b%22&#x37;%3Cc&percnt;5C6d&percnt;2Be"],
];

describe("a key", () => {
  test.each(spellings)("written %s is taken out, and nothing else", (_how, spelling) => {
    expect(redactor(key)(`{"key \\"%41": "la${spelling}bel&amp;"}`)).toBe(
      '{"key \\"%41": "la[redacted]bel&amp;"}',
    );
  });

  test("in base64 is taken out wherever it begins, but for bits it shares with its neighbours", () => {
    const redact = redactor("sk-4f9a?>7c6d");
    expect(redact(`<${btoa("sk-4f9a?>7c6d")}>`)).toBe("<[redacted]A==>");
    expect(redact(btoa(":sk-4f9a?>7c6d"))).toBe("On[redacted]Q=");
    expect(redact(btoa("::sk-4f9a?>7c6d, other"))).toMatch(/^Ojp\[redacted\]LC/);
  });

  test("in base64 for URLs, or with its slashes escaped, is taken out", () => {
    const base64 = btoa("sk-4f9a?>7c6d").replace(/=+$/, "");
    expect(base64).toMatch(/[+/].*A$/);
    const redact = redactor("sk-4f9a?>7c6d");
    const texts = [
      base64.replaceAll("/", "_").replaceAll("+", "-"),
      base64.replaceAll("/", "\\/"),
      encodeURIComponent(base64),
      base64.replaceAll("/", "&#x2F;").replaceAll("+", "&#43;"),
    ];
    expect(texts.map((text) => redact(text))).toEqual(Array(4).fill("[redacted]A"));
  });

  test("that stands there again and again is taken out each time", () => {
    expect(redactor("abababab")("-abababab-ababababab-abababababababab")).toBe(
      "-[redacted]-[redacted]-[redacted]",
    );
  });

  test("whose own characters look like escapes is taken out in each of its spellings", () => {
    const odd = "a%2Fb\\u0041&lt;c%25";
    const redact = redactor(odd);
    const texts = [odd, encodeURIComponent(odd), JSON.stringify(odd), odd.replace("&", "&amp;")];
    const redacted = ["[redacted]", "[redacted]", '"[redacted]"', "[redacted]"];
    expect(texts.map((text) => redact(text))).toEqual(redacted);
  });

  test("of nothing but backslashes is taken out as it is", () => {
    expect(redactor("\\\\\\\\\\\\\\\\")("a\\b \\\\\\\\\\\\\\\\ c")).toBe("a\\b [redacted] c");
  });

  test("is taken out after what would be an escape together with its beginning", () => {
    expect(redactor("41token7c6d")("100%41token7c6d")).toBe("100%[redacted]");
    expect(redactor("u0041token7c")("DOMAIN\\u0041token7c")).toBe("DOMAIN\\[redacted]");
  });

  test("that differs in one character stays", () => {
    const other = 'sk-4/9a&b"7<c\\6d+f';
    const texts = [other, encodeURIComponent(other), JSON.stringify(other), btoa(other)];
    expect(texts.map((text) => redactor(key)(text))).toEqual(texts);
  });

  test("that is empty leaves every text as it is", () => {
    expect(redactor("")("text")).toBe("text");
  });
});

const token = 'sk-4f9a8/b7c"6d';

const cutEnds: readonly (readonly [how: string, text: string, redacted: string])[] = [
  ["after 8 characters", "Wrong key sk-4f9a8", "Wrong key [redacted]"],
  ["before its last character", 'Wrong key sk-4f9a8/b7c"6', "Wrong key [redacted]"],
  ["after an escape", '{"key":"sk-4f9a8\\/b', '{"key":"[redacted]'],
  ["after a backslash", '{"key":"sk-4f9a8\\', '{"key":"[redacted]'],
  ["within \\u002f", '{"key":"sk-4f9a8\\u00', '{"key":"[redacted]'],
  ["within the second \\u of two", '{"key":"sk-4f9a\\u0038\\u002', '{"key":"[redacted]'],
  ["within %2F", "/?key=sk-4f9a8%2", "/?key=[redacted]"],
  ["within %252F", "/?key=sk-4f9a8%25", "/?key=[redacted]"],
  ["within &sol;", "<p>sk-4f9a8&so", "<p>[redacted]"],
  ["within &#x2f;", "<p>sk-4f9a8&#x2", "<p>[redacted]"],
  ["in base64", `{"key":"${btoa(token).slice(0, 12)}`, '{"key":"[redacted]'],
  ["in base64 after a name", `Basic ${btoa(`me:${token}`).slice(0, 18)}`, "Basic bWU6[redacted]"],
];

const cutBeginnings: readonly (readonly [how: string, text: string, redacted: string])[] = [
  ["before its last 8 characters", '8/b7c"6d is wrong', "[redacted] is wrong"],
  ["within \\u0039", '039a8\\/b7c\\"6d", "code": 1', '[redacted]", "code": 1'],
  ["within %39", "9a8%2Fb7c%226d&page=1", "[redacted]&page=1"],
  ["in base64", `${btoa(token).slice(-16)}"}`, '[redacted]"}'],
];

describe("a key in a cut text", () => {
  test.each([...cutEnds, ...cutBeginnings])("%s is taken out", (_how, text, redacted) => {
    expect(redactor(token)(text, true)).toBe(redacted);
    expect(redactor(token)(text)).toBe(text);
  });

  test("of which 7 characters came stays", () => {
    expect(redactor(token)("Wrong key sk-4f9a", true)).toBe("Wrong key sk-4f9a");
    expect(redactor(token)('/b7c"6d is wrong', true)).toBe('/b7c"6d is wrong');
  });

  test("stays where its beginning is not at the end", () => {
    const texts = ["Keys begin with sk-4f9a8.", 'Keys end with 8/b7c"6d.', "sk-4f9a8*** is wrong"];
    expect(texts.map((text) => redactor(token)(text, true))).toEqual(texts);
  });
});

const short = "bel";

const wholeValues: readonly (readonly [where: string, text: string, redacted: string])[] = [
  ["as the whole text", "bel", "[redacted]"],
  ["between blanks", " bel\t", " [redacted]\t"],
  ["as a JSON string", '{"label":"bel","bel":["bel"]}', '{"label":"[redacted]","bel":["[redacted]"]}'],
  ["as an escaped JSON string", '{\\"label\\":\\"b\\u0065l\\"}', '{\\"label\\":\\"[redacted]\\"}'],
  ["as the last JSON string of a cut text", '{"label":"bel', '{"label":"[redacted]'],
  ["as a header's value", "x-bel: bel\r\nhost: label", "x-bel: [redacted]\r\nhost: label"],
  ["as a header's value in JSON", '"x-bel: bel\\r\\nhost: label"', '"x-bel: [redacted]\\r\\nhost: label"'],
  ["as a query's value", "/?bel=bel&label=bel2#bel", "/?bel=[redacted]&label=bel2#bel"],
  ["as a query's value in HTML", "/?bel=bel&amp;label=1", "/?bel=[redacted]&amp;label=1"],
  ["percent-encoded in a query", "/?bel=%62el&label=1", "/?bel=[redacted]&label=1"],
  ["after Bearer", "authorization: bearer bel, bel", "authorization: bearer [redacted], bel"],
  ["after Bearer at a sentence's end", "Bearer bel.", "Bearer [redacted]."],
  ["in base64", '"YmVs"', '"[redacted]"'],
  ["at the end of a message", "Invalid key: bel", "Invalid key: [redacted]"],
];

const words: readonly string[] = [
  "label",
  "the label belongs to bel, and bel-air",
  '{"bel":1,"bel" : 2}',
  '{"text":"bel is","more":"a bel"}',
  "Bearer belong",
  "Bearer bel.air",
  "/?q=belong&label=bella",
  "error: bel is not known",
];

describe("a key of fewer than 8 characters", () => {
  test.each(wholeValues)("is taken out %s", (_where, text, redacted) => {
    expect(redactor(short)(text)).toBe(redacted);
    expect(redactor(short)(text, true)).toBe(redacted);
  });

  test.each(words)("is left in %s", (text) => {
    expect(redactor(short)(text)).toBe(text);
    expect(redactor(short)(text, true)).toBe(text);
  });

  test("with escapes is taken out in each of its spellings", () => {
    const texts = ['"a\\/&\\"b"', '"a\\u002f\\u0026\\"b"', "?k=a%2f%26%22b", "a&sol;&amp;&quot;b"];
    const redacted = ['"[redacted]"', '"[redacted]"', "?k=[redacted]", "[redacted]"];
    expect(texts.map((text) => redactor('a/&"b')(text))).toEqual(redacted);
  });
});

describe("a value", () => {
  const parse = (text: string): unknown => JSON.parse(text);

  test("has the key taken out of its strings and of the names of its fields, however deep", () => {
    const value = { [token]: [{ [`key ${token}`]: `Bearer ${token}` }, 42, null, true] };
    expect(redactValues(redactor(token), value)).toEqual({
      "[redacted]": [{ "key [redacted]": "Bearer [redacted]" }, 42, null, true],
    });
    const parsed = parse(`{"__proto__":${JSON.stringify(token)},"a":1}`);
    expect(JSON.stringify(redactValues(redactor(token), parsed))).toBe('{"__proto__":"[redacted]","a":1}');
  });

  test("keeps every field where two names are the same without the key", () => {
    const names = [token, encodeURIComponent(token), "[redacted] 2", "[redacted]", btoa(token)];
    const value = Object.fromEntries(names.map((name, at) => [name, at]));
    expect(Object.entries(redactValues(redactor(token), value) as object)).toEqual([
      ["[redacted] 3", 0],
      ["[redacted] 4", 1],
      ["[redacted] 2", 2],
      ["[redacted]", 3],
      ["[redacted] 5", 4],
    ]);
  });

  test("has no name changed by a key of fewer than 8 characters, which may be any field's", () => {
    expect(redactValues(redactor(short), { bel: "bel", label: "a bel" })).toEqual({
      bel: "[redacted]",
      label: "a bel",
    });
  });
});
