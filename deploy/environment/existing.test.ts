import { afterEach, expect, test, vi } from "vitest";
import { existingCluster, ignoredVariableNotice } from "./existing.ts";

afterEach(() => vi.unstubAllEnvs());

const onlyOne = (name: string): string =>
  `Only ${name} is set. Set both KUBECONFIG and NATS_URL to use an existing cluster.`;

test.each<[string | undefined, string | undefined, ReturnType<typeof existingCluster>, string | undefined]>([
  ["/c", "nats://b", { kubeconfig: "/c", natsUrl: "nats://b" }, undefined],
  ["/c", undefined, undefined, onlyOne("KUBECONFIG")],
  ["/c", "", undefined, onlyOne("KUBECONFIG")],
  [undefined, "nats://b", undefined, onlyOne("NATS_URL")],
  [undefined, undefined, undefined, undefined],
])("KUBECONFIG %j and NATS_URL %j", (kubeconfig, natsUrl, own, notice) => {
  vi.stubEnv("KUBECONFIG", kubeconfig);
  vi.stubEnv("NATS_URL", natsUrl);
  expect(existingCluster()).toEqual(own);
  expect(ignoredVariableNotice()).toBe(notice);
});
