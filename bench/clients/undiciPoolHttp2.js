// undici's Pool.request over HTTP/2.
import { open as openPool } from "./undiciPoolByHand.js";

export const open = (baseUrl) => openPool(baseUrl, { allowH2: true });
