import fc, { type Arbitrary } from "fast-check";

// What has changed a path, a header or a form in some client once.
const pieces: Arbitrary<string> = fc.constantFrom(
  ..."/ \\ ? # % : ; , & = + @ ! $ ' \" ( ) * | ^ ~ { } [ ] < >".split(" "),
  ..."a 0 - _ . .. ... %2e %2E%2e %2F %5c %00 %3A %0d%0a //".split(" "),
  ...":scale :resume :upload /v1/ accounts/acme/deployments/prod http://other.invalid $& {account_id}".split(
    " ",
  ),
  ..." |\t|\n|\r|\r\n|\0|\x7f|\x85|\u2028|\ufeff|\u200b|\u202e|\ud83d|\udd0e|🔎|é|e\u0301|\u3002".split("|"),
  "__proto__",
  "constructor",
);

const unit: Arbitrary<string> = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const ascii: Arbitrary<string> = fc.string({ unit: "binary-ascii" });

/** Strings of every kind: of code points, of lone surrogates, of pieces with a meaning, and now and then a very long one. */
export const anyString: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.array(pieces, { maxLength: 5 }).map((parts) => parts.join("")) },
  {
    weight: 4,
    arbitrary: fc.array(fc.oneof(pieces, ascii), { maxLength: 4 }).map((parts) => parts.join("")),
  },
  { weight: 4, arbitrary: fc.string({ unit: "grapheme" }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 2, arbitrary: fc.string({ unit }) },
  { weight: 4, arbitrary: ascii },
);

/** One piece or two, again and again: what a pattern that backtracks would take long to read. */
export const longString: Arbitrary<string> = fc
  .tuple(anyString, fc.oneof(pieces, unit), fc.integer({ min: 200, max: 100_000 }), anyString)
  .map(([before, piece, length, after]) => before + piece.repeat(Math.ceil(length / piece.length)) + after);

/** {@link anyString}, and once in a hundred times a long one. */
export const hostileString: Arbitrary<string> = fc.oneof(
  { weight: 99, arbitrary: anyString },
  { weight: 1, arbitrary: longString },
);

/** Printable ASCII, spaces apart. */
export const visible: Arbitrary<string> = fc
  .integer({ min: 0x21, max: 0x7e })
  .map((code) => String.fromCharCode(code));
