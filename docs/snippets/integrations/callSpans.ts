import * as api from "@opentelemetry/api";
import { traceCalls } from "tunerank/opentelemetry";

// The http instrumentation makes the spans of the attempts.
traceCalls(api, { attempts: false });
