let lost: Error | undefined;

/** Lets a command run to its end whoever reads it: an error of stdout or stderr would end it in the middle of a call. */
export function surviveOutputErrors(): void {
  // What stderr does not take can be shown nowhere else.
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head`) is no failure.
    if (error.code !== "EPIPE") lost ??= error;
  });
}

/** Why stdout has not taken all that was printed, as on a full disk. */
export async function outputError(): Promise<Error | undefined> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  return lost;
}
