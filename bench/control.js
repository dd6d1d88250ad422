// Asks the server for its figures, or to hold or fail what comes next.
import http from "node:http";
import https from "node:https";

export function control(baseUrl, method, path) {
  const { request: ask } = baseUrl.startsWith("https:") ? https : http;
  return new Promise((resolve, reject) => {
    const options = { method, agent: false, rejectUnauthorized: false };
    const request = ask(baseUrl + path, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(JSON.parse(text)));
    });
    request.on("error", reject).end();
  });
}
