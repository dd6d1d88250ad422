import { invalid } from "../errors/statusError.js";

const local = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The origins that are allowed besides those of this machine. @throws StatusError for what is no origin */
export function checkOrigins(origins: unknown): ReadonlySet<string> {
  if (!Array.isArray(origins)) throw invalid("allowOrigins must be a list of origins.");
  for (const origin of origins) {
    const isOrigin = typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin) throw invalid('allowOrigins must hold origins such as "https://app.example.com".');
  }
  return new Set(origins);
}

/** What lets a page of an allowed origin read the answer; nothing for any other. */
export function corsHeaders(headers: Headers, allowed: ReadonlySet<string>): Record<string, string> {
  const { origin } = headers;
  if (typeof origin !== "string") return {};
  const isAllowed = origin === "null" || local.test(origin) || allowed.has(origin);
  if (!isAllowed) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "x-request-id, retry-after",
  };
}

/** Whether a browser asks what a page may send. */
export function isPreflight(method: string, headers: Headers): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** The answer to that. */
export function preflightHeaders(headers: Headers, allowed: ReadonlySet<string>): Record<string, string> {
  const found = corsHeaders(headers, allowed);
  if (found["access-control-allow-origin"] === undefined) return found;
  const asked = headers["access-control-request-headers"];
  return {
    ...found,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": typeof asked === "string" ? asked : "authorization, content-type",
    "access-control-max-age": "600",
    ...(headers["access-control-request-private-network"] === "true" && {
      "access-control-allow-private-network": "true",
    }),
  };
}
