// openapi-fetch reaches for these two globals, though the transport sets the headers and frames the file itself.
// On Node 20 touching the real ones loads the whole of fetch, so the build hands it these (scripts/build.ts).

/** Takes what openapi-fetch sets and keeps none of it. */
export class Headers {
  set(): void {}
}

/** Nothing is one. */
export class FormData {}
