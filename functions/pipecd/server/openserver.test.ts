import { expect, test } from "vitest";
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { ControlPlane } from "../kinds.ts";
import { openServer } from "./openserver.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const secret: Stored<SecretObject> = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: {},
  data: { "encryption-key": encoded("0123456789abcdef0123456789abcdef"), "api-key": encoded("key") },
};
const ctx = {
  key: { cluster: "c", namespace: "ns", name: "o" },
  live: { get: async () => secret },
  signal: AbortSignal.timeout(60_000),
} as unknown as Parameters<typeof openServer>[2];

const planeOf = (version: string): Stored<ControlPlane> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "plane", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: { version, config: { datastore: {}, filestore: {} } },
});
const caller = { projectID: "quickstart", insecure: true } as const;
const apiKeySecretRef = { name: "keys" };

test.each(["v0.9.0", "v0.37.1", "v0.43.1"])(
  "rejects an API key for a control plane of %s",
  async (version) => {
    await expect(openServer(planeOf(version), { ...caller, apiKeySecretRef }, ctx)).rejects.toMatchObject({
      reason: "ConfigInvalid",
      message: `spec.apiKeySecretRef needs a control plane of PipeCD v0.44.0 or later: plane has ${version}`,
    });
    await expect(openServer(planeOf(version), caller, ctx)).resolves.toBeDefined();
  },
);

test("accepts an API key for a control plane of v0.44.0", async () => {
  await expect(openServer(planeOf("v0.44.0"), { ...caller, apiKeySecretRef }, ctx)).resolves.toBeDefined();
});
