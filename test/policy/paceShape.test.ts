// A file of its own: V8 changes a shape once in a process, and other tests have paces with fractions from the start.
import { setFlagsFromString } from "node:v8";
import { expect, test } from "vitest";
import { Pace } from "../../src/policy/rate.js";

test("a run leaves its pace in the shape of a new one, so that V8 compiles nothing again for the next run", () => {
  setFlagsFromString("--allow-natives-syntax");
  const haveSameShape = new Function("one", "other", "return %HaveSameMap(one, other)");
  const [used, unused] = [new Pace({}), new Pace({})];
  const estimated = used.began(performance.now(), 0);
  used.ended(estimated);
  used.counted(42, 0, estimated);
  expect(haveSameShape(used, unused)).toBe(true);
});
