/** A value that JSON can say. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** An object that JSON can say. */
export interface JsonObject {
  [key: string]: Json;
}
