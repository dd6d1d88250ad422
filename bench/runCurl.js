// curl -F of one file: how long it says it took, how long the process ran, and the most memory it held.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { peakBytes } from "./peakBytes.js";

export async function runCurl({ baseUrl, path }) {
  const url = `${baseUrl}/v1/accounts/bench/datasets/bench:upload`;
  const started = performance.now();
  const curl = spawn(
    "curl",
    [
      "--silent",
      "--fail",
      "--output",
      "/dev/null",
      "--write-out",
      "%{time_total}",
      "--header",
      "authorization: Bearer bench-key",
      "--form",
      `file=@${path}`,
      url,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(curl.pid));
  }, 5);
  const [printed, [exitCode]] = await Promise.all([text(curl.stdout), once(curl, "exit")]);
  clearInterval(watch);
  if (exitCode !== 0) throw new Error(`curl ended with ${exitCode}.`);
  return {
    milliseconds: Number(printed) * 1000,
    processMilliseconds: performance.now() - started,
    peakBytes: peak,
  };
}

// It may be gone already.
function peakOf(pid) {
  try {
    return peakBytes(pid);
  } catch {
    return 0;
  }
}
