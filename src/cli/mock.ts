import { createTestService } from "../testing/index.js";
import { type Context, UsageError } from "./context.js";
import { jsonLine } from "./safeText.js";

const defaultPort = 4010;

/** `tunerank mock`: serves until it is stopped. */
export async function run({ options, terminal, signal }: Context<{ port?: number }>): Promise<void> {
  const { port = defaultPort } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError("--port must be 0 to 65535.");
  const server = await createTestService()
    .listen({ port })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      throw new UsageError(`Port ${port} is taken: choose another with --port, or 0 for any free one.`);
    });
  if (terminal.json) terminal.print(jsonLine({ url: server.url }));
  else
    terminal.print(
      `A stand-in for the service listens on ${server.url}; any API key will do. Ctrl-C stops it.`,
    );
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
}
