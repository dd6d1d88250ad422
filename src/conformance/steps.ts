// What the requests of a row meet, ready to be sent.
import type { OperationData, RowAnswer, RowStep } from "./data.js";

/** An answer, ready to be sent. */
export interface CellAnswer extends Pick<RowAnswer, "gzip" | "chunked" | "after"> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In a text, `{apiKey}` stands for the key of the request. */
  readonly body: string | Uint8Array;
}

/** What one request meets. */
export type Step = { readonly answer: CellAnswer } | { readonly network: string };

/**
 * What each request meets, the last all that follow.
 * @param good The good answer, where it is not that of the operation.
 */
export function stepsOf(steps: readonly RowStep[], asked: OperationData, good?: RowAnswer): readonly Step[] {
  return steps.flatMap((step) => Array.from({ length: step.times ?? 1 }, () => stepOf(step, asked, good)));
}

function stepOf(step: RowStep, asked: OperationData, good?: RowAnswer): Step {
  if ("success" in step) return { answer: good ? answerOf(good) : goodCellAnswer(asked) };
  return "answer" in step ? { answer: answerOf(step.answer) } : step;
}

function goodCellAnswer({ status = 200, answerType, answer }: OperationData): CellAnswer {
  if (answer === undefined) return { status, headers: {}, body: "" };
  if (typeof answer !== "string") return answerOf({ status, body: answer });
  return answerOf({ status, headers: { "content-type": answerType ?? "text/plain" }, text: answer });
}

function answerOf({ status, headers = {}, body, text, repeat, ...sent }: RowAnswer): CellAnswer {
  const plain = text ?? (body === undefined ? "" : JSON.stringify(body));
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return {
    ...sent,
    status,
    headers: { ...(!hasType && { "content-type": "application/json" }), ...headers },
    body: repeat ? plain.replace("{repeat}", repeated(repeat)) : plain,
  };
}

function repeated({ text, bytes }: NonNullable<RowAnswer["repeat"]>): string {
  return text.repeat(bytes / Buffer.byteLength(text));
}
