import { initTRPC, TRPCError } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { createClient, isStatusError } from "tunerank";
import { z } from "zod";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const client = createClient();
const t = initTRPC.create();

const router = t.router({
  search: t.procedure.input(z.string()).query(async ({ input, signal }) => {
    try {
      const best = await client.rerank.items(input, articles, { text: ({ body }) => body, signal });
      return best.map(({ item }) => item.title);
    } catch (cause) {
      if (!isStatusError(cause)) throw cause;
      console.log(cause.message);
      throw new TRPCError({ code: "BAD_GATEWAY", message: cause.message, cause });
    }
  }),
});

export type AppRouter = typeof router;

createHTTPServer({ router }).listen(Number(process.env.PORT ?? 3000));
