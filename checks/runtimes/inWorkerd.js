// Runs the checks in workerd, and prints their results as JSON.
import * as tunerank from "tunerank";
import { checkBehaviour } from "./behaviour.js";

export default {
  async test(_controller, { baseUrl, closedUrl }) {
    console.log(`RESULTS ${JSON.stringify(await checkBehaviour(tunerank, baseUrl, { closedUrl }))}`);
  },
};
