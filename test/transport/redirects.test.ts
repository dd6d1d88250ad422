import { describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const elsewhere = useRecordingServer();

describe.each(transports)("over $name", ({ options }) => {
  describe.each([301, 302, 303, 307, 308])("a redirect with %i", (status) => {
    test.each(operationCalls)(
      "of $operation is not followed: key and file go nowhere else",
      async ({ operation, call }) => {
        server.reply({ status, text: "", headers: { location: `${elsewhere.url}/v1/stolen` } });
        const error = await failureOf(() => call(connect(server.url, options)));
        expect(error).toMatchObject({
          code: "FAILED_PRECONDITION",
          httpStatus: status,
          executed: "unknown",
          inferred: true,
          codeSource: "status",
          operation,
        });
        expect(error.hint).toContain("baseUrl");
        expect(server.requests).toHaveLength(1);
        expect(elsewhere.requests).toEqual([]);
        expect(elsewhere.connections).toBe(0);
      },
    );
  });
});
