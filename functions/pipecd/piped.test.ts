import { expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import piped from "./piped.ts";

test("is indexed by the Secret of its own name, even if it does not control it, and by the Secrets that it refers to", () => {
  const metadata = { namespace: "ns", name: "agent" };
  const spec = {
    apiKeySecretRef: { name: "key" },
    volumeMounts: [{ volume: { secret: { secretName: "git" } } }],
  };
  const object = { metadata, spec } as unknown as Stored;
  expect(piped.indexes.secret?.(object)).toEqual(["ns/git", "ns/agent", "ns/pipecd", "ns/key"]);
});
