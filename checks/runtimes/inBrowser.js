// Runs the checks in a page, and leaves their results on the window.
import * as tunerank from "tunerank";
import { behaviour } from "./behaviour.js";
import { runChecks } from "./checking.js";

const { origin, searchParams } = new URL(location.href);
const place = { closedUrl: searchParams.get("closed"), options: { dangerouslyAllowBrowser: true } };
runChecks(behaviour, tunerank, origin, place).then((results) => {
  window.results = results;
});
