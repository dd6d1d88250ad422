import { alternate } from "../alternate.js";
import { runChild } from "../runChild.js";
import { runCurl } from "../runCurl.js";
import { startServer } from "../startServer.js";
import { withUploadFile } from "../uploadFile.js";

export const title = "150 MB upload from a path, wall time";
export const unit = "ms";

const contestants = ["tunerank", "nodeHttp", "curl", "undici", "fetch", "openai"];

export async function measure({ quick, ...child }) {
  const server = await startServer();
  const { baseUrl } = server;
  try {
    return await withUploadFile((file) =>
      alternate(quick ? 5 : 11, contestants, async (client) => {
        const upload = { client, baseUrl, ...file };
        const { milliseconds, error } = await (client === "curl"
          ? runCurl(upload)
          : runChild("upload", upload, child));
        if (error) throw new Error(`${client}: ${error}`);
        return milliseconds;
      }),
    );
  } finally {
    await server.close();
  }
}
