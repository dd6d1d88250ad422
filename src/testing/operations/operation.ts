import type { State } from "../state.js";
import type { TestFile } from "../types.js";

/** What an operation works with: ids decoded, body and file as the contract wants them. */
export interface OperationRequest<Body = unknown> {
  readonly state: State;
  readonly id: (name: string) => string;
  readonly body: Body;
  readonly file: TestFile | undefined;
}

/** Carries an operation out and hands back the answer's body. @throws Refusal */
export type RunOperation<Body = unknown> = (request: OperationRequest<Body>) => object;
