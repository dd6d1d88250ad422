import { beforeEach, vi } from "vitest";

/** Lets the tests of the calling file draw the shortest backoff there is, none: what counts there is how often, not when. */
export function useNoBackoff(): void {
  beforeEach(() => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    return () => random.mockRestore();
  });
}
