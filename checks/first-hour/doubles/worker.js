import { call } from "./call.js";

export default {
  fetch: async (request) => new Response(await call(new URL(request.url).searchParams.get("double"))),
};
