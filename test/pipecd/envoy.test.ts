/** The gateway's rendered configuration against hand-written ones. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { envoyConfig } from "../../functions/pipecd/gateway/envoy.ts";
import { golden } from "./documents.ts";

const server = "sample-server";

test.each([
  ["L0", false, "l0-envoy"],
  ["C", false, "c-envoy"],
  ["C", true, "c-envoy-tls"],
] as const)("of the profile %s, with TLS %s, is %s", (profile, tls, expected) => {
  const text = envoyConfig(profile, { server, tls });
  expect(parse(text)).toEqual(golden(expected));
  expect(envoyConfig(profile, { tls, server })).toBe(text);
  expect(text).not.toMatch(/[&*]a\d/);
});

test("has no TLS by default", () => {
  expect(envoyConfig("C", { server })).toBe(envoyConfig("C", { server, tls: false }));
});

test("has no TLS up to v0.9.0", () => {
  expect(() => envoyConfig("L0", { server, tls: true })).toThrow("spec.tls needs PipeCD v0.37.1 or later");
});
