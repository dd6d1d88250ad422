// Which proxy a request goes through: that of the option `proxy`, or of the environment, which is read as curl reads it.
import type { TransportFailure } from "../transport.js";

/** The proxy that requests to an address go through, by the option `proxy`; undefined for none. @throws TransportFailure */
export function proxyFor(url: URL, proxy: string): URL | undefined {
  return proxy === "env" ? proxyFromEnvironment(url, process.env) : parseProxy(proxy, "proxy");
}

// A proxy that cannot be used. The message names where it was given, never its value: it may hold a password.
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
  // http_proxy in capitals can be set by a request's header where a program runs as CGI.
  const names = url.protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"];
  const name = [...names, "all_proxy", "ALL_PROXY"].find((each) => env[each]);
  return isExcepted(url, env.no_proxy || env.NO_PROXY || "") ? undefined : name;
}

/** A proxy's URL. Without a scheme it is http; without a port 1080, or 443 for https, as for curl. @throws TransportFailure */
function parseProxy(value: string, name: string): URL {
  const text = value.trim();
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole))
    throw unusableProxy(`${name} is not a URL such as http://proxy.example.com:3128.`);
  const proxy = new URL(whole);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    throw unusableProxy(`${name} is no http or https proxy.`);
  }
  if (!isDecodable(proxy.username) || !isDecodable(proxy.password)) {
    throw unusableProxy(`${name} has a user name or password with a "%" that encodes nothing: write %25.`);
  }
  // A URL drops the port that its scheme has by default.
  const hasPort = /:\d+\/?$/.test(whole.replace(/[?#].*$/s, ""));
  if (proxy.protocol === "http:" && !hasPort) proxy.port = "1080";
  return proxy;
}

/** Whether a list such as NO_PROXY has the host of an address. */
export function isExcepted(url: URL, list: string): boolean {
  const host = withoutBrackets(url.hostname).replace(/\.$/, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (list.trim() === "*") return true;
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = "", entryPort = port] = splitPort(entry);
    return name !== "" && entryPort === port && covers(name, host);
  });
}

// "host", "host:port", "[address]:port"; an IPv6 address without brackets has no port.
function splitPort(entry: string): RegExpExecArray | readonly string[] {
  return /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ["", entry];
}

function covers(entry: string, host: string): boolean {
  const [network = "", bits] = withoutBrackets(entry.toLowerCase()).split("/");
  // getBuiltinModule, not import: the command line starts without it.
  const { BlockList, isIP } = process.getBuiltinModule("node:net");
  const version = isIP(host);
  if (version === 0) {
    const domain = network.replace(/^\.|\.$/g, "");
    return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
  }
  const length = version === 4 ? 32 : 128;
  // As for curl, a prefix of 0 bits is the whole address.
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

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * What has to be redacted of a proxy: its user name and password, together and alone, as the URL has them, and as the
 * bytes of UTF-8, of which base64 is made. A user name can be a token.
 */
export function proxyCredentialsOf(proxy: URL): string[] {
  const username = decodeURIComponent(proxy.username);
  const password = decodeURIComponent(proxy.password);
  const together = username && password && `${username}:${password}`;
  const decoded = [together, password, username];
  const bytes = decoded.map((secret) => Buffer.from(secret).toString("latin1"));
  // The encoded forms differ from the decoded ones outside ASCII.
  return [...new Set([...decoded, ...bytes, proxy.password, proxy.username])].filter(
    (secret) => secret !== "",
  );
}
