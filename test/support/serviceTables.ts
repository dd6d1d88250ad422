// Tables of the service's interface document, typed here by hand on purpose: the contract is compared with them.

/** The codes in the order of the document's table: name, HTTP status, meaning. */
export const codeTable: readonly (readonly [code: string, httpStatus: number, meaning: string])[] = [
  ["OK", 200, "success"],
  ["CANCELLED", 499, "cancelled, typically by the caller"],
  ["UNKNOWN", 500, "unknown error"],
  ["INVALID_ARGUMENT", 400, "argument is problematic regardless of system state"],
  [
    "DEADLINE_EXCEEDED",
    504,
    "deadline expired before completion; a state-changing operation may still have completed",
  ],
  ["NOT_FOUND", 404, "requested entity not found"],
  ["ALREADY_EXISTS", 409, "entity to create already exists"],
  ["PERMISSION_DENIED", 403, "caller lacks permission"],
  ["UNAUTHENTICATED", 401, "missing or invalid credentials"],
  ["RESOURCE_EXHAUSTED", 429, "quota or resource exhausted"],
  ["FAILED_PRECONDITION", 400, "system not in the state required; do not retry until state is fixed"],
  ["ABORTED", 409, "concurrency conflict; retry at a higher level"],
  ["OUT_OF_RANGE", 400, "attempted past the valid range"],
  ["UNIMPLEMENTED", 501, "not implemented or not enabled"],
  ["INTERNAL", 500, "broken internal invariant"],
  ["UNAVAILABLE", 503, "transient; retry with backoff"],
  ["DATA_LOSS", 500, "unrecoverable data loss or corruption"],
];

/** The codes that are failures. */
export const failureTable: readonly (readonly [code: string, httpStatus: number])[] = codeTable
  .filter(([code]) => code !== "OK")
  .map(([code, httpStatus]) => [code, httpStatus]);

/** The error statuses of the table, each with the code of the contract's first example for it. */
export const errorStatuses: readonly (readonly [httpStatus: number, code: string])[] = [
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ALREADY_EXISTS"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "UNKNOWN"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
];
