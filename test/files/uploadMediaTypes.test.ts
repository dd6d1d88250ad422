import { describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

/** A Blob that says of itself what the platform's own would not. */
function blobOfType(type: unknown): File {
  return Object.defineProperty(new File(["x"], "train.jsonl"), "type", { value: type });
}

describe.each(transports)("over $name", ({ options }) => {
  test.each([
    ["a header of the part", "text/plain\r\nX-Evil: 1"],
    ["a second part", 'text/plain\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="more"'],
    ["a line feed", "text/plain\nX-Evil: 1"],
    ["a character outside ASCII", "text/plain\u2028"],
    ["no text", 7],
  ])("a Blob whose own type holds %s is refused before anything is sent", async (_what, type) => {
    const upload = () => connect(server.url, options).datasets.upload("reviews", blobOfType(type));
    const error = await failureOf(upload);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toContain("contentType");
    expect(error.message).not.toContain("Evil");
    expect(server.requests).toEqual([]);
  });

  test("contentType stands in for a Blob's own type that cannot be sent", async () => {
    const blob = blobOfType("text/plain\r\nX-Evil: 1");
    await connect(server.url, options).datasets.upload("reviews", blob, { contentType: "text/plain" });
    expect(server.only.files).toMatchObject([{ mimeType: "text/plain" }]);
    expect(server.only.body.includes("Evil")).toBe(false);
  });

  test("a Blob's own type is sent as it is when it can stand in a header", async () => {
    await connect(server.url, options).datasets.upload("reviews", blobOfType("text/x; charset=utf-8"));
    expect(server.only.body.includes("\r\nContent-Type: text/x; charset=utf-8\r\n\r\nx\r\n")).toBe(true);
  });
});
