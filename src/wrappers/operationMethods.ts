import { makeCall } from "../call/call.js";
import type { ClientConfig } from "../call/settings.js";
import type { Outcome, PreparedRequest } from "../call/types.js";
import { requests } from "../generated/contract.js";
import { checkCallback, checkCount, checkFlag } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallOptions } from "../options/types.js";
import type { OptionTable, RequestRules } from "../options/validate.js";
import { loaded, prepare, startCall } from "./invoke.js";
import type {
  ClientInside,
  OperationArguments,
  RequestOptions,
  ServiceCall,
  ServiceRequest,
  UploadOptions,
} from "./types.js";

// The module behind `client.request` and added operations, loaded with the first such call: few programs make one.
const late = () => loaded(import("./request.js"));

/** @internal Makes the calls of any operation with a client's settings. */
export function createCalls(
  settings: ClientConfig,
): Pick<ClientInside, "callEncoded" | "callOperation"> & { readonly request: ServiceCall } {
  type Part = Awaited<ReturnType<typeof late>>;
  type Prepare<T> = Parameters<typeof makeCall<T>>[3];
  const callAny = <T>(
    options: RequestOptions | undefined,
    prepareIn: (part: Part, ...call: Parameters<Prepare<T>>) => ReturnType<Prepare<T>>,
  ) =>
    startCall<T>("request", settings, () =>
      makeCall(settings, "request", { options, table: requestTable }, async (...call) =>
        prepareIn(await late(), ...call),
      ),
    );
  return {
    callEncoded: (request, options, onResponse) =>
      callAny(options, (part, ...call) => part.prepareEncoded(...call, request, onResponse)),
    callOperation: (input, options) =>
      startCall(input.operation, settings, () => callOperation(settings, input, options)),
    request: <T>(request: ServiceRequest, options?: RequestOptions) =>
      callAny<T>(options, (part, ...call) => part.prepareAny<T>(...call, request)),
  };
}

const { accountId: _, ...sharedNames } = callOptionTable;
const requestTable = { ...sharedNames, maxResponseBytes: checkCount } as object as OptionTable<CallOptions>;

const uploadOptionTable: OptionTable<UploadOptions> = {
  ...callOptionTable,
  name: 1,
  size: 1,
  contentType: 1,
  onProgress: checkCallback,
  verifyBytes: checkFlag,
};

/** @internal Calls an operation whose body is written, or whose file is opened, by a part that is loaded then. */
export function callOperation<T>(
  client: ClientConfig,
  input: OperationArguments,
  options: CallOptions | undefined,
): Promise<Outcome<T>> {
  const { operation, ids } = input;
  const { file }: RequestRules = requests[operation];
  const table = file === undefined ? callOptionTable : uploadOptionTable;
  return makeCall(client, operation, { options, table }, (settings, own) => {
    const draft = prepare<never>(settings, operation, { ids, body: undefined, read: undefined });
    const whole: Promise<PreparedRequest<unknown>> =
      file === undefined
        ? late().then((part) => part.prepareOperation(draft, input))
        : loaded(import("./uploadFile.js")).then((part) => part.prepareUpload(draft, input, own));
    return { ...draft, whole } as PreparedRequest<never>;
  });
}
