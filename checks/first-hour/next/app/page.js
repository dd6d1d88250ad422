"use client";

import { isStatusError } from "tunerank";

export default function Page() {
  return <p>{String(isStatusError(undefined))}</p>;
}
