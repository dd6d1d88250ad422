import { http } from "msw-2";
import { setupServer } from "msw-2/node";
import { describeMsw, everything } from "./support/mswBehaviour.ts";

describeMsw("MSW 2", (respond) => setupServer(http.all(everything, ({ request }) => respond(request))));
