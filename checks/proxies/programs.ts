import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";

/** How one program is started, and told to read its configuration anew. */
export interface ProgramOptions {
  readonly name: string;
  readonly config: string;
  /** What else its folder holds. */
  readonly files?: Readonly<Record<string, string>>;
  /** @param file The configuration's path. */
  readonly args: (file: string) => readonly string[];
  readonly reloadSignal: NodeJS.Signals;
}

/** A program that runs with a configuration of its own, in a folder that goes with it. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #port: number;
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), "tunerank-proxy-"));
  #child: ChildProcess | undefined;

  /** @param port Where it listens. */
  constructor(options: ProgramOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  /** Resolves once it takes connections. @throws {NotStarted} It ended, or takes none within 30 s. */
  async start(): Promise<this> {
    const { name, config, args, files = {} } = this.#options;
    const deadline = performance.now() + 30_000;
    const file = path.join(this.#folder, `${name}.conf`);
    // Some of these give up root, and write as another user.
    spawnSync("chmod", ["777", this.#folder]);
    writeFileSync(file, config.replaceAll("FOLDER", this.#folder));
    for (const [own, content] of Object.entries(files)) writeFileSync(path.join(this.#folder, own), content);
    const child = spawn(name, args(file), { env, stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    let said = "";
    child.stderr?.on("data", (text) => {
      said += text;
    });
    child.on("error", (error) => {
      said += error;
    });
    while (!hasEnded(child) && performance.now() < deadline) {
      if (await listens(this.#port)) return this;
      await setTimeout(20);
    }
    const how = hasEnded(child) ? `ended with ${child.exitCode ?? child.signalCode}` : "takes no connections";
    throw new NotStarted(`${name} ${how}:\n${said}${this.#lastLines()}`);
  }

  // What it wrote into its own folder, where squid says why it ends.
  #lastLines(): string {
    const logs = readdirSync(this.#folder).filter((file) => file.endsWith(".log"));
    const lines = logs.flatMap((log) => readFileSync(path.join(this.#folder, log), "utf8").split("\n"));
    return lines.slice(-25).join("\n");
  }

  /** Has it read its configuration anew, as an operator does who changed it. */
  reload(): void {
    this.#child?.kill(this.#options.reloadSignal);
  }

  /** Ends it as a failure does, at once, and starts it again. */
  async restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  /** Lets it take connections and do nothing else, or go on. */
  pause(paused: boolean): void {
    this.#child?.kill(paused ? "SIGSTOP" : "SIGCONT");
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    const patience = AbortSignal.timeout(10_000);
    patience.addEventListener("abort", () => child.kill("SIGKILL"));
    await ended;
  }
}

/** The program could not be started: nothing was learnt about the client. */
export class NotStarted extends Error {}

// One that a signal ended has no exit code, and one that could not be run has neither.
function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

// Where Debian has its servers, which is not in everybody's PATH.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

/** The program's version; undefined when it is not on this machine. */
export function versionOf(name: string, args: readonly string[], pattern: RegExp): string | undefined {
  const { error, stdout, stderr } = spawnSync(name, args, { env, encoding: "utf8" });
  return error ? undefined : pattern.exec(`${stdout}${stderr}`)?.[1];
}

// Below the ports that systems give to outgoing connections: between two programs of a run nobody takes one.
let nextPort = 20_000 + ((process.pid * 131) % 10_000);

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort++;
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      await once(server.close(), "close");
      return port;
    } catch {
      // Somebody has it.
    }
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A proxy that is running, and where it listens. */
export interface RunningProxy {
  readonly program: Program;
  readonly port: number;
}

/** A kind of proxy. */
export interface ProxyProgram {
  readonly name: string;
  /** Its version; undefined when it is not on this machine. */
  readonly version: string | undefined;
  /** Whether clients reach the service by it as if it were the service, or name it as their proxy. */
  readonly way: "reverse" | "forward";
  /** Starts it in front of a port. @param idleMs For how long it keeps an idle connection. */
  start(servicePort: number, idleMs: number): Promise<RunningProxy>;
}

const nginx: ProxyProgram = {
  name: "nginx",
  version: versionOf("nginx", ["-v"], /nginx\/(\S+)/),
  way: "reverse",
  start: (servicePort, idleMs) =>
    startNginx(
      servicePort,
      (port) => `
          listen 127.0.0.1:${port} backlog=4096;
          keepalive_timeout ${idleMs}ms;`,
    ),
};

const haproxy: ProxyProgram = {
  name: "haproxy",
  version: versionOf("haproxy", ["-v"], /version (\S+)/),
  way: "reverse",
  start: (servicePort, idleMs) =>
    startHaproxy(
      (port) => `
        timeout http-keep-alive ${idleMs}ms
        frontend clients
          mode http
          bind 127.0.0.1:${port}
          default_backend service
        backend service
          mode http
          server one 127.0.0.1:${servicePort}`,
    ),
};

const squid: ProxyProgram = {
  name: "squid",
  version: versionOf("squid", ["-v"], /Version (\S+)/),
  way: "forward",
  start: (_servicePort, idleMs) => startSquid(`client_idle_pconn_timeout ${idleMs / 1000} seconds`),
};

/** Every proxy of this room. */
export const proxies: readonly ProxyProgram[] = [nginx, haproxy, squid];

/** Starts nginx before the service with HTTP/2 over TLS. */
export function startNginxHttp2(
  servicePort: number,
  files: Readonly<Record<"cert.pem" | "key.pem", string>>,
): Promise<RunningProxy> {
  const server = (port: number): string => `
          listen 127.0.0.1:${port} ssl http2 backlog=4096;
          ssl_certificate FOLDER/cert.pem;
          ssl_certificate_key FOLDER/key.pem;`;
  return startNginx(servicePort, server, files);
}

function startNginx(
  servicePort: number,
  server: (port: number) => string,
  files: Readonly<Record<string, string>> = {},
): Promise<RunningProxy> {
  const config = (port: number): string => `
      daemon off;
      user root;
      worker_processes 1;
      pid FOLDER/nginx.pid;
      error_log FOLDER/error.log;
      events { worker_connections 4096; }
      http {
        access_log off;
        client_body_temp_path FOLDER/body;
        proxy_temp_path FOLDER/proxy;
        fastcgi_temp_path FOLDER/fastcgi;
        uwsgi_temp_path FOLDER/uwsgi;
        scgi_temp_path FOLDER/scgi;
        keepalive_requests 1000000;
        server {${server(port)}
          location / {
            proxy_pass http://127.0.0.1:${servicePort};
            proxy_next_upstream off;
          }
        }
      }`;
  return start("nginx", config, files);
}

/** Starts haproxy with these sections after its defaults, where `timeout` lines may come first. */
export function startHaproxy(
  sections: (port: number) => string,
  files: Readonly<Record<string, string>> = {},
): Promise<RunningProxy> {
  const config = (port: number): string => `
    global
      maxconn 4096
      stats socket FOLDER/admin.sock mode 600 level admin expose-fd listeners
    defaults
      timeout connect 2s
      timeout client 30s
      timeout server 30s
      retries 0
      ${sections(port)}\n`;
  return start("haproxy", config, files);
}

/** Starts squid with these lines; it allows everything that they do not forbid. */
export function startSquid(lines: string): Promise<RunningProxy> {
  return start(
    "squid",
    (port) => `
http_port 127.0.0.1:${port}
pid_filename FOLDER/squid.pid
cache_log FOLDER/cache.log
coredump_dir FOLDER
access_log none
cache deny all
shutdown_lifetime 0 seconds
pinger_enable off
${lines}
http_access allow all
`,
  );
}

// A program's own arguments come before the file of its configuration.
const commands = {
  nginx: { args: ["-c"], reloadSignal: "SIGHUP" },
  haproxy: { args: ["-W", "-db", "-f"], reloadSignal: "SIGUSR2" },
  squid: { args: ["-N", "-f"], reloadSignal: "SIGHUP" },
} as const;

async function start(
  name: keyof typeof commands,
  config: (port: number) => string,
  files: Readonly<Record<string, string>> = {},
): Promise<RunningProxy> {
  const { args, reloadSignal } = commands[name];
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const options = {
      name,
      config: config(port),
      files,
      reloadSignal,
      args: (file: string) => [...args, file],
    };
    const program = new Program(options, port);
    try {
      return { program: await program.start(), port };
    } catch (error) {
      await program.stop();
      // Somebody may have taken the port meanwhile: another one, three times.
      if (!(error instanceof NotStarted) || tries === 3) throw error;
    }
  }
}
