import { describe, expect, test } from "vitest";
import { Pod } from "../kube/kind.ts";
import { defineFunction } from "./function.ts";
import type { Outbound } from "./outbound.ts";

const declared = (outbound: unknown) =>
  defineFunction({
    ...{ name: "thing", for: Pod, outbound: outbound as Outbound },
    reconcile: async () => undefined,
  });

test("accepts addresses of both families, and port names of pods", () => {
  const cidrs = ["0.0.0.0/0", "10.20.0.0/16", "192.0.2.7/32", "::/0", "2001:db8::/32", "2001:db8::7/128"];
  const outbound: Outbound = {
    internet: { ports: [80, 443] },
    cidrs: cidrs.map((cidr) => ({ cidr, ports: [1, 65_535] })),
    podPorts: [9081, "http", "a", "web-2"],
  };
  expect(declared(outbound).outbound).toEqual(outbound);
  declared({ internet: true });
});

describe("rejects a CIDR that", () => {
  test.each([
    ["10.0.0.0", "needs a prefix of 0 to 32 bits"],
    ["10.0.0.0/", "needs a prefix of 0 to 32 bits"],
    ["10.0.0.0/33", "needs a prefix of 0 to 32 bits"],
    ["10.0.0.0/08", "needs a prefix of 0 to 32 bits"],
    ["10.0.0.0/8/8", "needs a prefix of 0 to 32 bits"],
    ["2001:db8::/129", "needs a prefix of 0 to 128 bits"],
    ["10.0.0/8", "has no IPv4 or IPv6 address"],
    ["db.example.com/32", "has no IPv4 or IPv6 address"],
    ["fe80::1%eth0/64", "has no IPv4 or IPv6 address"],
    ["", "has no IPv4 or IPv6 address"],
    ["10.0.0.1/8", "has bits beyond its prefix"],
    ["2001:db8::1/64", "has bits beyond its prefix"],
    ["::ffff:10.0.0.1/127", "has bits beyond its prefix"],
  ])("%s: %s", (cidr, problem) => {
    expect(() =>
      declared({
        cidrs: [
          { cidr: "10.0.0.0/8", ports: [1] },
          { cidr, ports: [1] },
        ],
      }),
    ).toThrow(
      `outbound.cidrs[1].cidr of "thing" must be an address and the length of a prefix, such as 10.0.0.0/8: "${cidr}" ${problem}`,
    );
  });
});

describe("rejects ports", () => {
  test.each([
    [{ internet: { ports: [] } }, "outbound.internet.ports", "none"],
    [{ internet: { ports: [0] } }, "outbound.internet.ports", "0"],
    [{ cidrs: [{ cidr: "10.0.0.0/8", ports: [443, 65_536] }] }, "outbound.cidrs[0].ports", "65536"],
    [{ cidrs: [{ cidr: "10.0.0.0/8", ports: ["https"] }] }, "outbound.cidrs[0].ports", '"https"'],
    [{ cidrs: [{ cidr: "10.0.0.0/8", ports: [1.5] }] }, "outbound.cidrs[0].ports", "1.5"],
    [{ podPorts: [] }, "outbound.podPorts", "none"],
    [{ podPorts: ["a-very-long-port"] }, "outbound.podPorts", '"a-very-long-port"'],
    [{ podPorts: ["Http"] }, "outbound.podPorts", '"Http"'],
    [{ podPorts: ["80"] }, "outbound.podPorts", '"80"'],
    [{ podPorts: ["a--b"] }, "outbound.podPorts", '"a--b"'],
  ])("%j", (outbound, field, found) => {
    expect(() => declared(outbound)).toThrow(`${field} of "thing" must list ports from 1 to 65535`);
    expect(() => declared(outbound)).toThrow(`found ${found}`);
  });
});
