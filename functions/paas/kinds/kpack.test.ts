import { expect, test } from "vitest";
import { publishable } from "../../../bus/events/kubernetes.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { Build, Image } from "./kpack.ts";

const metadata = { namespace: "team-a", name: "web", uid: "u", resourceVersion: "1" };
const text = "Container export terminated with error: denied robot:hunter-2";
const failed = { type: "Succeeded", status: "False", reason: "Failed", message: text };

test.each<[Kind, object, object]>([
  [
    Build,
    {
      spec: {
        source: { git: { revision: "a", url: "https://github.com/acme/web" } },
        env: [{ value: "hunter-2" }],
      },
      status: {
        podName: "pod",
        stepsCompleted: ["prepare"],
        stepStates: [{ terminated: { exitCode: 1, message: text } }],
        conditions: [failed],
      },
    },
    {
      spec: { source: { git: { revision: "a" } } },
      status: { podName: "pod", stepsCompleted: ["prepare"] },
    },
  ],
  [
    Image,
    { spec: { tag: "web:1", build: {} }, status: { observedGeneration: 2, conditions: [failed] } },
    { spec: { tag: "web:1", build: {} }, status: { observedGeneration: 2 } },
  ],
])("publishes no output of builds: $kind", (kind, content, { ...published }) => {
  const object = {
    apiVersion: "kpack.io/v1alpha2",
    kind: kind.kind,
    metadata,
    ...content,
  } as unknown as Stored;
  const found = publishable(kind, object);
  expect(found).toMatchObject(published);
  expect(found.status).toMatchObject({
    conditions: [{ type: "Succeeded", status: "False", reason: "Failed" }],
  });
  expect(JSON.stringify(found)).not.toContain("hunter");
});
