import { expect, test } from "vitest";
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { bytesIn, secretWith } from "./secrets.ts";

const secret: Stored<SecretObject> = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: {},
  data: { key: Buffer.from("bytes").toString("base64"), empty: "" },
};
const ctx = {
  key: { cluster: "c", namespace: "ns", name: "o" },
  live: { get: async () => secret },
} as unknown as Parameters<typeof secretWith>[2];

test("decodes the value of a key", () => {
  expect(bytesIn(secret, "key").toString()).toBe("bytes");
});

test.for(["other", "empty", "constructor", "__proto__"])("finds no value for the key %s", async (key) => {
  expect(bytesIn(secret, key)).toHaveLength(0);
  await expect(secretWith("s", ["key", key], ctx)).rejects.toThrow(`the Secret s has no ${key}`);
});
