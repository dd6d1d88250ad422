import { expect, test } from "vitest";
import { isExcepted, proxyFromEnvironment } from "../../src/transport/node/proxies.js";

const proxy = "http://proxy.example:8080";
const [http, https] = [new URL("http://api.example.com"), new URL("https://api.example.com")];

test.each<[url: URL, name: string, used: boolean]>([
  [http, "http_proxy", true],
  // A request's header `Proxy` sets it in a program that runs as CGI (httpoxy).
  [http, "HTTP_PROXY", false],
  [http, "https_proxy", false],
  [http, "ALL_PROXY", true],
  [https, "https_proxy", true],
  [https, "HTTPS_PROXY", true],
  [https, "http_proxy", false],
])("for %s the variable %s counts: %s", (url, name, used) => {
  expect(proxyFromEnvironment(url, { [name]: proxy })?.href).toBe(used ? `${proxy}/` : undefined);
});

test.each<[entry: string, hosts: string, excepted: boolean]>([
  ["example.com", "example.com api.example.com a.b.example.com EXAMPLE.COM", true],
  [".example.com", "example.com api.example.com", true],
  ["example.com.", "example.com api.example.com", true],
  ["example.com", "badexample.com example.com.evil.test example.org", false],
  ["api.example.com", "example.com", false],
  ["example.com:8443", "example.com", false],
  ["example.com:443", "example.com api.example.com", true],
  ["10.0.0.0/8", "10.1.2.3", true],
  ["10.0.0.0/8", "11.1.2.3", false],
  ["fd00::/8", "[fd00::1]", true],
  [" other.test , example.com ", "example.com", true],
  ["*", "anything.test", true],
  ["", "example.com", false],
])("NO_PROXY=%s excepts %s: %s", (entry, hosts, excepted) => {
  for (const host of hosts.split(" "))
    expect([host, isExcepted(new URL(`https://${host}`), entry)]).toEqual([host, excepted]);
});
