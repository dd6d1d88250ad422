// Two packages of a workspace, each with a version of its own: what one throws, the other recognises.
import * as newer from "newer";
import * as older from "older";

const errorOf = (search) => search("small").catch((error) => error);
const [ofNewer, ofOlder] = [await errorOf(newer.failing), await errorOf(older.failing)];
console.log(newer.version, older.version, newer.StatusError === older.StatusError);
console.log(newer.isStatusError(ofOlder, "NOT_FOUND"), older.isStatusError(ofNewer, "NOT_FOUND"));
console.log(ofOlder instanceof newer.StatusError, ofNewer instanceof older.StatusError);
console.log(await newer.search("capital of France"), await older.search("capital of France"));
