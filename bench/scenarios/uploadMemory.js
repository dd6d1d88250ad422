import { alternate, minusMedian } from "../alternate.js";
import { control } from "../control.js";
import { runChild } from "../runChild.js";
import { runCurl } from "../runCurl.js";
import { startServer } from "../startServer.js";
import { withUploadFile } from "../uploadFile.js";

export const title = "The same upload, peak memory minus an empty process (curl: all of it)";
export const unit = "MB";

const all = ["tunerank", "tunerank, one retry", "nodeHttp", "undici", "fetch", "openai", "curl"];

export async function measure({ quick, contestants = all, rounds = quick ? 3 : 7, ...child }) {
  const server = await startServer();
  try {
    const samples = await withUploadFile((file) => {
      const upload = { baseUrl: server.baseUrl, ...file };
      return alternate(rounds, [...contestants, "empty process"], (name) => peak(name, upload, child));
    });
    // curl is no Node: there is no empty process to take off.
    const nodes = contestants.filter((name) => name !== "curl");
    return minusMedian(samples, "empty process", nodes);
  } finally {
    await server.close();
  }
}

async function peak(name, upload, child) {
  const { peakBytes, error } = await run(name, upload, child);
  if (error) throw new Error(`${name}: ${error}`);
  return peakBytes / 1e6;
}

async function run(name, upload, child) {
  if (name === "curl") return runCurl(upload);
  if (name === "empty process") return runChild("upload", {}, child);
  if (name !== "tunerank, one retry") return runChild("upload", { ...upload, client: name }, child);
  // The whole file arrives twice: the first response is a 503.
  await control(upload.baseUrl, "POST", "/fail-next-upload");
  const options = { idempotent: true };
  const figures = await runChild("upload", { ...upload, client: "tunerank", options }, child);
  // Without retries there is nothing to measure: the figure stays empty.
  return figures.error ? { peakBytes: Number.NaN } : figures;
}
