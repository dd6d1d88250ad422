// Asks the server for its figures, or to hold or fail what comes next.
import http from "node:http";

export function control(baseUrl, method, path) {
  return new Promise((resolve, reject) => {
    const request = http.request(baseUrl + path, { method, agent: false }, (response) => {
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
