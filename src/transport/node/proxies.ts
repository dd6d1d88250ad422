// Which proxy a request goes through: that of the option `proxy`, or of environment variables, read as curl reads them.
import { valueOr } from "../../values.js";
import type { TransportFailure } from "../exchange.js";

/** The proxy for an address, according to the option `proxy`; undefined for none. @throws TransportFailure */
export function proxyFor(url: URL, proxy: string): URL | undefined {
  return proxy === "env" ? proxyFromEnvironment(url, process.env) : parseProxy(proxy, "proxy");
}

// The failure for a proxy that cannot be used. It never shows the value, which may hold a password.
function unusableProxy(message: string): TransportFailure {
  const failure: TransportFailure = { message, phase: "connect", reason: "agent" };
  return Object.assign(Object.create(null), failure);
}

/** The proxy that the environment names for an address; undefined for none. @throws TransportFailure */
export function proxyFromEnvironment(url: URL, env: NodeJS.ProcessEnv): URL | undefined {
  const name = proxyVariable(url, env);
  return name === undefined ? undefined : parseProxy(env[name] ?? "", name);
}

/** The variable that names the proxy for an address; undefined for none. */
export function proxyVariable(url: URL, env: NodeJS.ProcessEnv): string | undefined {
  // HTTP_PROXY is not read: if a program runs as CGI, a request's header can set it.
  const names = url.protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"];
  const name = [...names, "all_proxy", "ALL_PROXY"].find((each) => env[each]);
  return isExcepted(url, env.no_proxy || env.NO_PROXY || "") ? undefined : name;
}

/** Parses a proxy's URL. The default scheme is http, the default port 1080, or 443 for https. @throws TransportFailure */
function parseProxy(value: string, name: string): URL {
  const text = value.trim();
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole))
    throw unusableProxy(`${name} is not a URL such as http://proxy.example.com:3128.`);
  const proxy = new URL(whole);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    throw unusableProxy(`${name} is no http or https proxy.`);
  }
  if (valueOr(() => decodeURIComponent(`${proxy.username}:${proxy.password}`)) === undefined) {
    throw unusableProxy(`${name} has a user name or password with a "%" that encodes nothing: write %25.`);
  }
  // A URL object drops the default port of its scheme, so a given port is looked for in the text.
  const hasPort = /:\d+\/?$/.test(whole.replace(/[?#].*$/s, ""));
  if (proxy.protocol === "http:" && !hasPort) proxy.port = "1080";
  return proxy;
}

/** Whether a list such as NO_PROXY contains the host of an address. */
export function isExcepted(url: URL, list: string): boolean {
  const host = withoutBrackets(url.hostname).replace(/\.$/, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (list.trim() === "*") return true;
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = "", entryPort = port] = splitPort(entry);
    return name !== "" && entryPort === port && covers(name, host);
  });
}

// Splits "host", "host:port" or "[address]:port"; an IPv6 address without brackets has no port.
function splitPort(entry: string): RegExpExecArray | readonly string[] {
  return /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ["", entry];
}

function covers(entry: string, host: string): boolean {
  const [network = "", bits] = withoutBrackets(entry.toLowerCase()).split("/");
  // getBuiltinModule, not import: the command line starts without loading node:net.
  const { BlockList, isIP } = process.getBuiltinModule("node:net");
  const version = isIP(host);
  if (version === 0) {
    const domain = network.replace(/^\.|\.$/g, "");
    return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
  }
  const length = version === 4 ? 32 : 128;
  // As for curl, a prefix of 0 bits, or none, means the whole address.
  const prefix = Number(bits ?? 0) || length;
  if (isIP(network) !== version || !/^\d*$/.test(bits ?? "") || prefix > length) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  const block = new BlockList();
  block.addSubnet(network, prefix, family);
  return block.check(host, family);
}

function withoutBrackets(name: string): string {
  return name.replace(/^\[(.*)\]/, "$1");
}

/**
 * The secrets of a proxy: its user name, which can be a token, its password, and both together; each decoded, as written
 * in the URL, and as the bytes of UTF-8, from which base64 is made.
 */
export function proxyCredentialsOf(proxy: URL): string[] {
  const username = decodeURIComponent(proxy.username);
  const password = decodeURIComponent(proxy.password);
  const together = username && password && `${username}:${password}`;
  const decoded = [together, password, username];
  const bytes = decoded.map((secret) => Buffer.from(secret).toString("latin1"));
  return [...new Set([...decoded, ...bytes, proxy.password, proxy.username])].filter(Boolean);
}
