import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Outage {
  readonly scenario: {
    readonly callsPerSecond: number;
    readonly downFromMs: number;
    readonly downUntilMs: number;
  };
  readonly figures: readonly {
    readonly policy: string;
    readonly callsInOutage: number;
    readonly requestsInOutage: number;
    readonly amplification: number;
    readonly mostRequestsPerSecond: number;
  }[];
}

/** docs/data/outage.json as a table. */
export async function outagePart(): Promise<Page> {
  const { scenario, figures } = await readData<Outage>("outage.json", "npm run bench -- outage");
  const seconds = (scenario.downUntilMs - scenario.downFromMs) / 1000;
  const rows = figures.map((each) => [
    each.policy,
    each.requestsInOutage.toLocaleString("en"),
    each.amplification.toFixed(2),
    String(each.mostRequestsPerSecond),
  ]);
  const calls = figures[0]?.callsInOutage.toLocaleString("en");
  const text = [
    `A simulation: the service is down for ${seconds} seconds. A program continues to make ${scenario.callsPerSecond} calls a second, ${calls} in all. For comparison, \`openai\` is OpenAI's client from npm, which makes two retries of each call.`,
    "",
    table(["Policy", "Requests sent", "Requests per call", "Most requests in a second"], rows),
  ].join("\n");
  return { path: "parts/outage.md", text };
}
