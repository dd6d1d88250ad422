// Generated from package.json by `npm run generate`: do not edit.

/** This package's version. */
export const version: string = "0.2.0";
