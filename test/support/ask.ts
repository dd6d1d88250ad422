import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { soon } from "./turns.js";

/** The status and the text of a response to a request whose headers no `fetch` lets one set, such as Host. */
export async function ask(
  url: string,
  { method = "GET", headers = {}, body = "" }: { method?: string; headers?: object; body?: string },
): Promise<readonly [status: number | undefined, text: string]> {
  const sent = request(url, { method, headers: { ...headers } }).end(body);
  const [response] = (await soon(once(sent, "response"), `${method} ${url} gets a response`)) as [
    IncomingMessage,
  ];
  return [response.statusCode, await text(response)];
}
