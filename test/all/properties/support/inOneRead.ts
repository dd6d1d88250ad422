/** The body of a `fetch` function's answer, without the cost of a real stream. */
export function inOneRead(text: string): object {
  const value = new TextEncoder().encode(text);
  return {
    getReader() {
      let done = false;
      return {
        async read() {
          if (done) return { done };
          done = true;
          return { done: false, value };
        },
        async cancel() {},
      };
    },
  };
}
