import { expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import piped from "./piped.ts";

test("it is found by the Secret of its own name, which may be somebody else's, and by those that it names", () => {
  const metadata = { namespace: "ns", name: "agent" };
  const spec = {
    apiKeySecretRef: { name: "key" },
    volumeMounts: [{ volume: { secret: { secretName: "git" } } }],
  };
  const object = { metadata, spec } as unknown as Stored;
  expect(piped.indexes.secret?.(object)).toEqual(["ns/git", "ns/agent", "ns/pipecd", "ns/key"]);
});
