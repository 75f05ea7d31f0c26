import { describe, expect, test } from "vitest";
import { addressOf } from "./serveraddress.ts";

const plane = { metadata: { name: "cp", namespace: "ns", uid: "u", resourceVersion: "1" } };
const web = (DENREI_PIPECD_WEB_ADDRESS: string) => addressOf("web", plane, { DENREI_PIPECD_WEB_ADDRESS });

test("defaults to the server's Service", () => {
  expect(addressOf("web", plane, {})).toBe("cp-server.ns.svc:9081");
  expect(addressOf("api", plane, {})).toBe("cp-server.ns.svc:9083");
  expect(web("")).toBe("cp-server.ns.svc:9081");
});

test("reads one environment variable per service", () => {
  const env = { DENREI_PIPECD_WEB_ADDRESS: "web:1", DENREI_PIPECD_API_ADDRESS: "api:2" };
  expect([addressOf("web", plane, env), addressOf("api", plane, env)]).toEqual(["web:1", "api:2"]);
  expect(addressOf("api", plane, { DENREI_PIPECD_WEB_ADDRESS: "web:1" })).toBe("cp-server.ns.svc:9083");
});

describe("a configured address", () => {
  test.each([
    ["localhost:9081", "localhost:9081"],
    ["127.0.0.1:80", "127.0.0.1:80"],
    ["[::1]:9081", "[::1]:9081"],
    ["[2001:DB8::1]:9081", "[2001:DB8::1]:9081"],
    ["{name}.{namespace}.example.com:443", "cp.ns.example.com:443"],
    ["{namespace}-{name}-{namespace}:1", "ns-cp-ns:1"],
  ])("can be %s", (template, address) => {
    expect(web(template)).toBe(address);
  });

  test.each([
    "localhost",
    "localhost:",
    ":9081",
    "localhost:http",
    "localhost:123456",
    "localhost:65536",
    "localhost:0",
    "http://localhost:9081",
    "localhost:9081/",
    "local host:9081",
    "::1:9081",
    "[::1]",
    "[cp]:9081",
    "{project}.example.com:443",
    "{name:443",
  ])("cannot be %s, and the error names the variable", (template) => {
    expect(() => web(template)).toThrow(
      expect.objectContaining({
        name: "BlockedError",
        reason: "AddressInvalid",
        message: expect.stringContaining(`"${template}"`),
      }),
    );
    expect(() => web(template)).toThrow("DENREI_PIPECD_WEB_ADDRESS");
  });
});
