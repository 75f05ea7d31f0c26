/** Settings: flags, then environment, then defaults. */
import { describe, expect, test } from "vitest";
import { redacted } from "../values/redact.ts";
import { defaultOf, flagOf, readSettings, variableOf } from "./config.ts";

describe("a setting", () => {
  const read = (flags: Record<string, unknown>, env: Record<string, string>) =>
    readSettings(["natsUrl", "ackWaitSeconds", "namespaces"], flags, env);

  test("comes from the flag, else the variable, else the default", () => {
    expect(read({}, {})).toEqual({ natsUrl: "nats://127.0.0.1:4222", ackWaitSeconds: 10, namespaces: [] });
    const env = { NATS_URL: "nats://env:1", DENREI_ACK_WAIT_SECONDS: "20", DENREI_NAMESPACES: "a,b" };
    expect(read({}, env)).toEqual({ natsUrl: "nats://env:1", ackWaitSeconds: 20, namespaces: ["a", "b"] });
    const flags = { natsUrl: "tls://flag:2", ackWaitSeconds: "30", namespaces: "c" };
    expect(read(flags, env)).toEqual({ natsUrl: "tls://flag:2", ackWaitSeconds: 30, namespaces: ["c"] });
  });

  test("counts as unset if empty in the environment, and as invalid if empty as a flag", () => {
    expect(read({}, { DENREI_ACK_WAIT_SECONDS: "" }).ackWaitSeconds).toBe(10);
    expect(() => read({ ackWaitSeconds: "" }, {})).toThrow(
      '--ack-wait-seconds: expected a whole number from 3 to 600, found ""',
    );
  });

  test("is not validated in the environment if a flag overrides it", () => {
    expect(read({ ackWaitSeconds: "30" }, { DENREI_ACK_WAIT_SECONDS: "x" }).ackWaitSeconds).toBe(30);
  });

  test("is named as the user writes it", () => {
    expect([flagOf("ackWaitSeconds"), variableOf("ackWaitSeconds"), defaultOf("ackWaitSeconds")]).toEqual([
      "--ack-wait-seconds",
      "DENREI_ACK_WAIT_SECONDS",
      "10",
    ]);
    expect([defaultOf("replica"), defaultOf("kubeconfig"), defaultOf("namespaces")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.for([
    "nats://a:4222",
    "a:4222",
    "tls://a",
    "nats://[::1]:4222",
    "nats://a:1, nats://b:2",
    "nats://user:pass@a:1",
    "nats://a:4222/",
  ])("natsUrl can be %s", (natsUrl) => {
    expect(read({ natsUrl }, {}).natsUrl).toBe(natsUrl);
  });

  test.for(["", "ws://a:1", "https://a", "nats://a b", "nats://a:1,"])("natsUrl cannot be %s", (natsUrl) => {
    expect(() => read({ natsUrl }, {})).toThrow("--nats-url: expected nats://host:port");
  });

  test.for([":0", "127.0.0.1:8080", "[::1]:65535", "localhost:1"])("httpAddress can be %s", (address) => {
    expect(readSettings(["httpAddress"], { httpAddress: address }, {}).httpAddress).toBe(address);
  });
});

describe("a password in an address", () => {
  test("is not repeated in an error", () => {
    const wrong = () => readSettings(["natsUrl"], {}, { NATS_URL: "nats://user:hunter2@host a" });
    expect(wrong).toThrow('found "nats://***@host a"');
  });

  test.for([
    ["nats://user:pass@a:1", "nats://***@a:1"],
    ["nats://token@a:1,tls://u:p@b:2/", "nats://***@a:1,tls://***@b:2/"],
    ["no server at nats://u:p@a:1, mail x@y", "no server at nats://***@a:1, mail x@y"],
    ["nats://a:1", "nats://a:1"],
  ] as const)("%s is shown as %s", ([address, shown]) => {
    expect(redacted(address)).toBe(shown);
  });
});
