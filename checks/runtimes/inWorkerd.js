// Runs the checks in workerd, and prints their results as JSON.
import * as tunerank from "tunerank";
import { checkBehaviour } from "./behaviour.js";
import recipe from "./edgeWorker.ts";

export default {
  async test(_controller, { baseUrl, closedUrl }) {
    const results = await checkBehaviour(tunerank, baseUrl, { closedUrl });
    results.push(["runs the worker of the docs", await checkRecipe(baseUrl)]);
    console.log(`RESULTS ${JSON.stringify(results)}`);
  },
};

/** What is wrong with the recipe, if anything. */
async function checkRecipe(baseUrl) {
  const env = { TUNERANK_BASE_URL: baseUrl, TUNERANK_API_KEY: "runtime-key" };
  const post = async (body) => {
    const request = new Request("https://worker.test", { method: "POST", body: JSON.stringify(body) });
    const response = await recipe.fetch(request, env);
    return `${response.status} ${JSON.stringify(await response.json())}`;
  };
  const ranked = await post({ query: "recipe", documents: ["three", "a", "to"] });
  const refused = await post({ query: "recipe" });
  const isRight = ranked.startsWith("200 ") && ranked.includes('"index":1');
  return isRight && refused === '400 {"code":"INVALID_ARGUMENT"}' ? undefined : `${ranked}, ${refused}`;
}
