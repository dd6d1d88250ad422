// What must be reached. A ratio is of medians of one run; Node 22 and later have a faster fetch.
const onNode20 = (major) => major < 22;

const ratio = (scenario, peer, atMost, laterAtMost, contestant = "tunerank") => ({
  scenario,
  peer,
  contestant,
  figure: `${contestant} ÷ ${peer}`,
  atMost: (major) => (onNode20(major) ? atMost : laterAtMost),
});
const most = (scenario, contestant, atMost) => ({
  scenario,
  contestant,
  figure: contestant,
  atMost: () => atMost,
});
const cpuOf = (size, done) => `${size} lines, ${done} done: s of CPU`;

export const bounds = [
  ratio("cpuPerCall", "nodeHttp", 1, 1),
  ratio("cpuPerCall", "undiciPool", 1.1, 1.1, "tunerankDispatcher"),
  ratio("cpuPerCall", "nodeHttp", 0.88, 0.88, "tunerankDispatcher"),
  ratio("cpuPerCall", "fetch", 0.42, 0.55),
  ratio("cpuPerCall", "openai", 0.3),
  ratio("cpuOneAtATime", "nodeHttp", 1.12, 1.12),
  // An Intel Xeon gave 1.32 to 1.42, over a dispatcher 1.08 to 1.19.
  ratio("cpuSlowResponses", "nodeHttp", 1, 1),
  ratio("cpuSlowResponses", "undiciPool", 1.1, 1.1, "tunerankDispatcher"),
  ratio("cpuSlowResponses", "nodeHttp", 1.25, 1.25, "tunerankDispatcher"),
  ratio("cpuOverTls", "nodeHttp", 1, 1),
  ratio("cpuOverTls", "undiciPool", 1.1, 1.1, "tunerankDispatcher"),
  ratio("cpuOverTls", "nodeHttp", 0.88, 0.88, "tunerankDispatcher"),
  ratio("cpuHttp2", "nodeHttp2", 1, 1, "tunerankHttp2"),
  ratio("cpuHttp2", "undiciPoolHttp2", 1.1, 1.1, "tunerankHttp2"),
  ...["cpuGzip", "cpuNotFound", "cpuRetried", "cpuLargeResponse", "cpuLongDocuments"].flatMap((name) => [
    ratio(name, "nodeHttpByHand", 1, 1),
    ratio(name, "undiciPoolByHand", 1.1, 1.1, "tunerankDispatcher"),
  ]),
  ...["idleCost", "inFlightMemory"].flatMap((name) => [
    ratio(name, "nodeHttp", 1, 1),
    ratio(name, "undiciPool", 1.1, 1.1, "tunerankDispatcher"),
  ]),
  // Never more than are in flight; undici's Pool opens twice as many by itself.
  most("connectionsOverTls", "tunerank", 16),
  ratio("connectionsOverTls", "undiciPool", 1.25, 1.25, "tunerankDispatcher"),
  // An Intel Xeon gave 1.00 to 1.08, an AMD EPYC 0.57 to 0.83; over a dispatcher 0.75 to 0.80, and 0.43 to 0.56.
  ratio("timeOnOneCore", "nodeHttp", 1.15, 1.15),
  ratio("timeOnOneCore", "nodeHttp", 0.88, 0.88, "tunerankDispatcher"),
  ratio("startUp", "fetch", 0.4, 1),
  ratio("startUp", "openai", 0.25),
  ratio("commandLine", "nodeHttp", 1.5, 1.5, "tunerank scale"),
  ratio("uploadTime", "curl", 1.4, 1.4),
  ratio("uploadTime", "fetch", 0.22, 0.35),
  most("uploadMemory", "tunerank", 40),
  most("uploadMemory", "tunerank, one retry", 40),
  ratio("manyDocuments", "nodeHttp", 1.15, 1.15),
  { ...most("manyItems", "items ranked"), exactly: 100_000 },
  // Ten times as many cost no more each, and their texts (100 MB) are not kept.
  most("manyItems", "CPU per item ÷ that of 10,000 items", 1.2),
  most("manyItems", "peak memory in MB, minus that of an empty process; heap limit 96 MB", 160),
  { ...most("manyAtOnce", "calls fulfilled"), exactly: 5000 },
  most("manyAtOnce", "sockets at the server", 128),
  most("manyAtOnce", "bytes per waiting call", 10_000),
  ratio("bulkTime", "nodeHttp", 1.2, 1.2),
  ratio("bulkTime", "nodeHttp", 0.9, 0.9, "tunerankDispatcher"),
  ratio("bulkLongTime", "nodeHttp", 1.2, 1.2),
  ratio("bulkLongTime", "nodeHttp", 0.9, 0.9, "tunerankDispatcher"),
  ratio("bulkCpu", "openai", 0.25, 0.25),
  ratio("bulkCpu", "tunerankLoop", 1.05, 1.05),
  // A line of a long file costs no more than one of a short file.
  ratio("bulkStart", cpuOf("100k", "nothing"), 10, 10, cpuOf("1M", "nothing")),
  ratio("bulkStart", cpuOf("100k", "all but the last"), 10, 10, cpuOf("1M", "all but the last")),
  { ...most("bulkMemory", "results"), exactly: 1_000_000 },
  // Nothing is kept of a request once its result is handed out.
  most("bulkMemory", "heap at the end ÷ after a tenth", 1.25),
  { ...most("bulkOutage", "requests lost"), exactly: 0 },
  most("bulkOutage", "requests beyond need", 100),
  most("bulkOutage", "seconds to recover", 10),
  most("bundleSize", "loaded first, minified and gzipped", 17_500),
  // One pointer kept per call would be eight bytes.
  most("heapGrowth", "bytes kept per call", 2),
  { ...most("heapGrowth", "listeners left"), exactly: 0 },
  { ...most("heapGrowth", "timers left"), exactly: 0 },
];

/** What is measured, in this order: nothing without a bound. */
export const scenarios = [...new Set(bounds.map(({ scenario }) => scenario))];

/** Holds one scenario's medians against its bounds; bounds that do not concern this Node are left out. */
export function judge(scenario, medians, major) {
  const own = bounds.filter((bound) => bound.scenario === scenario);
  const judged = own.map(({ contestant, peer, figure, atMost, exactly }) => {
    const value = peer ? medians[contestant] / medians[peer] : medians[contestant];
    const limit = exactly ?? atMost(major);
    const reached = exactly === undefined ? value <= limit : value === exactly;
    return [figure, { value, [exactly === undefined ? "atMost" : "exactly"]: limit, reached }];
  });
  return Object.fromEntries(judged.filter(([, { atMost, exactly }]) => (atMost ?? exactly) !== undefined));
}
