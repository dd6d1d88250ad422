// Loaded by `node --require` before the command. Wraps the calls of node:fs that concern one folder, so that a test can end
// or stop the process at any of them, or let them fail. What it does is in TUNERANK_FAULTS, as JSON (CommandFaults in commandLine.ts).
const fs = require("node:fs");
const timers = require("node:timers/promises");

const {
  folder,
  killAt,
  isHalf,
  logTo,
  stopAt,
  noRoom,
  faster = 1,
  clockRate = 1,
  clockMs = 0,
} = JSON.parse(process.env.TUNERANK_FAULTS);
const files = new Map();
let calls = 0;
let stops = 0;
let isFull = false;
const began = performance.now();
const log = logTo && fs.openSync(logTo, "a");
const { writeSync } = fs;

function die() {
  process.kill(process.pid, "SIGKILL");
  for (;;);
}

// Called before each call. `write` writes only a half of what is to be written.
function before(name, path, write) {
  calls += 1;
  if (log !== undefined) writeSync(log, `${name} ${path}\n`);
  if (calls === killAt) {
    if (isHalf && write !== undefined) write();
    die();
  }
  if (stopAt !== undefined && `${name} ${path}`.includes(stopAt.call)) {
    stops += 1;
    if (stops === (stopAt.time ?? 1)) process.kill(process.pid, "SIGSTOP");
  }
  const isWrite = name === "write" || name === "writeFile";
  if (noRoom === undefined || !isWrite || !path.includes(noRoom.path)) return;
  noRoom.after -= 1;
  if (noRoom.after > 0 || performance.now() - began > noRoom.untilMs) return;
  // A disk that becomes full takes a part of what is written.
  if (!isFull) write?.();
  isFull = true;
  throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
}

const isMeant = (path) => typeof path === "string" && path.startsWith(folder);

for (const name of ["open", "stat", "lstat", "readdir", "unlink", "rmdir", "mkdir", "realpath"]) {
  const real = fs[`${name}Sync`];
  fs[`${name}Sync`] = (path, ...more) => {
    if (!isMeant(path)) return real(path, ...more);
    before(name, path);
    const result = real(path, ...more);
    if (name === "open") files.set(result, path);
    return result;
  };
}

for (const name of ["write", "read", "fdatasync", "fsync", "fstat", "close"]) {
  const real = fs[`${name}Sync`];
  fs[`${name}Sync`] = (file, ...more) => {
    const path = files.get(file);
    if (path === undefined) return real(file, ...more);
    const [bytes, from = 0, length = 0] = more;
    before(name, path, name === "write" ? () => real(file, bytes, from, length >> 1) : undefined);
    if (name === "close") files.delete(file);
    return real(file, ...more);
  };
}

const { open, rename } = fs.promises;
let prototype;
fs.promises.open = async (path, ...more) => {
  if (isMeant(path)) before("open", path);
  const handle = await open(path, ...more);
  if (isMeant(path)) files.set(handle.fd, path);
  if (prototype === undefined) {
    prototype = Object.getPrototypeOf(handle);
    for (const name of ["read", "write", "writeFile", "sync", "chmod", "stat", "close"]) {
      const real = prototype[name];
      prototype[name] = function (...args) {
        const file = files.get(this.fd);
        if (file !== undefined) {
          const write =
            name === "writeFile"
              ? () => fs.writeFileSync(this.fd, args[0].subarray(0, args[0].length >> 1))
              : undefined;
          try {
            before(name, file, write);
          } catch (error) {
            return Promise.reject(error);
          }
        }
        if (name === "close") files.delete(this.fd);
        return real.apply(this, args);
      };
    }
  }
  return handle;
};
fs.promises.rename = async (from, to) => {
  if (isMeant(from)) before("rename", from);
  return rename(from, to);
};

const wait = timers.setTimeout;
timers.setTimeout = (ms, ...more) => wait(ms / faster, ...more);
const elapsed = performance.now.bind(performance);
performance.now = () => elapsed() * clockRate;
const now = Date.now;
Date.now = () => now() + clockMs;
