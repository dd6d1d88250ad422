// The package as built, over a Pool of undici that speaks HTTP/2.
import { open as openOver } from "./tunerankDispatcher.js";

export const open = (baseUrl) => openOver(baseUrl, { allowH2: true });
