// npm run test:proxies: the client behind nginx, haproxy and squid, which nobody here wrote.
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { recordRun } from "../../scripts/lastRuns.js";
import { peers, tunerank } from "./contestants.js";
import { count, type Setting } from "./counts.js";
import { proxies } from "./programs.js";
import { failovers, handshakes, http2, tunnels } from "./proofs.js";

const { values: options } = parseArgs({
  options: {
    // How many calls are counted in each setting. If none of 1,000 fails, fewer than 0.3 % do (rule of three, 95 %), and of
    // all settings together fewer than 0.03 %: what is rarer is not seen.
    calls: { type: "string", default: "1000" },
    peers: { type: "boolean", default: false },
  },
});

const here = proxies.filter(({ version }) => version !== undefined);
const missing = proxies.filter(({ version }) => version === undefined);
let failures = 0;

const proofs = [...handshakes, ...tunnels, ...failovers, ...http2].filter(({ needs }) =>
  here.some(({ name }) => name === needs),
);
await inTurns(proofs, async ({ needs, name, prove }) => {
  const error = await withinMinutes(2, prove()).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  report(error, `${needs}: ${name}`);
});
await inTurns(settings(), countOne);
for (const { name } of missing) report(`Debian: apt-get install ${name}`, `${name} is not on this machine.`);
if (failures === 0 && options.peers && Number(options.calls) >= 1000) recordRun("proxies");
// What hung may still hold sockets and timers.
process.exit(failures > 0 ? 1 : 0);

async function countOne(setting: Setting): Promise<void> {
  const name = `${setting.proxy.name}, idle ${setting.idleMs} ms, ${setting.contestant.name}`;
  try {
    const counted = await withinMinutes(10, count(setting));
    const { calls, ranTwice, lost, overBudget, unknown, wrong } = counted;
    const what = `${name}: of ${calls} calls ${ranTwice} ran twice, ${lost} were lost, ${overBudget} over budget, ${unknown} are unknown, ${wrong} were wrong`;
    // Others are measured, not judged. Only squid stops listening while it reads its configuration.
    const away = setting.proxy.way === "reverse" ? overBudget : 0;
    const bad = setting.contestant === tunerank && ranTwice + lost + wrong + away > 0;
    report(bad ? "None may run twice, be lost or be wrong." : undefined, what);
  } catch (error) {
    report(error, name);
  }
}

function settings(): Setting[] {
  const calls = Number(options.calls);
  const reverse = here.filter(({ way }) => way === "reverse");
  const all = { contestant: tunerank, calls, operations: tunerank.operations, reloads: true };
  const resumes = { contestant: tunerank, calls, operations: ["resume"], reloads: false } as const;
  return [
    ...here.flatMap((proxy) => [1000, 2000].map((idleMs) => ({ ...all, proxy, idleMs }))),
    ...reverse.flatMap((proxy) => [500, 1000, 2000].map((idleMs) => ({ ...resumes, proxy, idleMs }))),
    ...(options.peers ? reverse : []).flatMap((proxy) =>
      peers.map((contestant) => {
        const { operations } = contestant;
        return { contestant, calls, operations, reloads: true, proxy, idleMs: 1000 };
      }),
    ),
  ];
}

// Four at a time: most of it is waiting.
async function inTurns<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async () => {
    for (const item of rest) await task(item);
  };
  await Promise.all(Array.from({ length: 4 }, work));
}

// A proxy that hangs must not hold the whole run.
function withinMinutes<T>(minutes: number, work: Promise<T>): Promise<T> {
  const late = setTimeout(minutes * 60_000).then(() => {
    throw new Error(`It has not ended within ${minutes} minutes.`);
  });
  return Promise.race([work, late]);
}

function report(error: unknown, what: string): void {
  console.log(error === undefined ? `ok     ${what}` : `FAILED  ${what}\n       ${error}`);
  if (error !== undefined) failures += 1;
}
