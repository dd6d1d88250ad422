// Runs the checks in a page, and leaves their results on the window.
import * as tunerank from "tunerank";
import { checkBehaviour } from "./behaviour.js";

const { origin, searchParams } = new URL(location.href);
const place = { closedUrl: searchParams.get("closed"), options: { dangerouslyAllowBrowser: true } };
checkBehaviour(tunerank, origin, place).then((results) => {
  window.results = results;
});
