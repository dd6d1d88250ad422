import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import type { AppRouter } from "./server.ts";

const [url = "", query = ""] = process.argv.slice(2);
const trpc = createTRPCClient<AppRouter>({ links: [httpLink({ url })] });

try {
  console.log(await trpc.search.query(query));
} catch (error) {
  if (!(error instanceof TRPCClientError)) throw error;
  console.log(error.data.httpStatus, error.message);
}
