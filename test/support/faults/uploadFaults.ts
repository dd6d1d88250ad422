import type { Socket } from "node:net";
import { answer, send } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, type Outcomes } from "./outcomes.js";

// More than what the network's buffers hold.
const bodyBytes = 8 * 1024 * 1024;

// Node's fetch drops an unread answer with the first write that fails: then it tells of a lost connection.
const overFetch = { or: like("close-before-headers") };

function early(name: string, headers: Act, outcomes: Outcomes, more: Partial<Fault> = {}): Fault {
  return { name, start: () => serve({ headers }), outcomes, bodyBytes, heavy: true, ...more };
}

// Reads nothing more; what it has not read makes its close a reset.
function withoutReading(status: number, then: (socket: Socket) => void): Act {
  return (socket) => {
    socket.pause().write(refusal(status), () => then(socket));
  };
}

function refusal(status: number): Buffer {
  return answer(status, '{"message":"Not this file."}');
}

/** Answers that do not wait for a large body, and a server that takes none. */
export const uploadFaults: readonly Fault[] = [413, 401]
  .flatMap((status) => [
    early(`${status} at once, and the rest is read`, send(refusal(status)), like(`status-${status}`)),
    early(
      `${status} at once, and nothing is read`,
      withoutReading(status, () => {}),
      like(`status-${status}`),
    ),
    early(
      `${status} at once, then a close`,
      withoutReading(status, (socket) => socket.destroy()),
      like(`status-${status}`),
      { overFetch },
    ),
    early(
      `${status} at once, then a reset`,
      withoutReading(status, (socket) => socket.resetAndDestroy()),
      like(`status-${status}`),
      { overFetch },
    ),
  ])
  .concat([
    early("stops reading", (socket) => void socket.pause(), like("deadline"), {
      client: { timeoutMs: 2_000, attemptTimeoutMs: 2_000 },
      heavy: false,
    }),
    early("closes while it is sent to", (socket) => void socket.destroy(), like("close-before-headers")),
  ]);
