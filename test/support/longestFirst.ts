import { BaseSequencer, type TestSpecification } from "vitest/node";

// Small files, which the usual order runs last, that wait long: alone at the end they would keep every other core idle.
const long = /\/(addresses|bulkPaid|faults|faultsBulk|retryTable)\.test\.ts$/;

/** Begins with the tests that take the longest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [true, false].flatMap((first) => sorted.filter(({ moduleId }) => long.test(moduleId) === first));
  }
}
