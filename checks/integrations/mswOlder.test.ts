import { http } from "msw-2";
import { setupServer } from "msw-2/node";
import { describeMsw, everything } from "./support/mswBehaviour.ts";

describeMsw("MSW 2", (answer) => setupServer(http.all(everything, ({ request }) => answer(request))));
