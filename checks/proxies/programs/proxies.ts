import { freePort, NotStarted, Program, versionOf } from "./program.js";

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
