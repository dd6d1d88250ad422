// Over which connections the requests of a row come.
import type { Socket } from "node:net";
import type { Cell } from "../cells.js";
import type { Step } from "../steps.js";

/** Looks at the connection of each request. */
export interface SeenConnections {
  /** What is wrong with the connection of a request. @param step What the request meets. */
  problemsOf(socket: Socket, step: Step): readonly string[];
}

/** Those of one row. */
export function createConnections(cell: Cell): SeenConnections {
  const { asked, client, connections } = cell;
  const isRepeatable = client.repeatable ?? asked.repeatable;
  const used = new WeakMap<Socket, Step>();
  let before: Step | undefined;
  return {
    problemsOf(socket, step) {
      const served = used.get(socket);
      const wasMisdirected = isAnswer(before, ({ status }) => status === 421);
      used.set(socket, step);
      before = step;
      if (served === undefined) return [];
      if (isAnswer(served, ({ after }) => after !== undefined))
        return ["it came over a connection on which something followed an answer"];
      if (!connections) return [];
      if (!isRepeatable) return ["it came over a connection that was idle, and the call is not repeatable"];
      return wasMisdirected ? ["it came over a connection that was idle, after a 421"] : [];
    },
  };
}

function isAnswer(
  step: Step | undefined,
  is: (answer: Extract<Step, { answer: unknown }>["answer"]) => boolean,
): boolean {
  return step !== undefined && "answer" in step && is(step.answer);
}
