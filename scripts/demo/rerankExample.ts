import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { RerankRequest } from "../../src/index.js";

/** The request example of the contract's rerank operation. */
export async function rerankExample(): Promise<RerankRequest> {
  const text = await readFile(new URL("../../openapi.yaml", import.meta.url), "utf8");
  const media = parse(text).paths["/inference/v1/rerank"].post.requestBody.content["application/json"];
  const [example] = Object.values(media.examples as Record<string, { value: RerankRequest }>);
  if (example === undefined) throw new Error("The contract has no example of a rerank request.");
  return example.value;
}
