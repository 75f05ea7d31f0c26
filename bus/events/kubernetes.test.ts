import { MsgHdrsImpl } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { ConfigMap, externalKind, Secret } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import { changeEvent, changeType, isDeletion, publishable, publishedForm, versionOf } from "./kubernetes.ts";
import { changeHead } from "./received.ts";

const Pod = externalKind({ group: "", version: "v1", kind: "Pod", plural: "pods" });
const metadata = {
  name: "a",
  namespace: "n",
  uid: "u-1",
  resourceVersion: "7",
  annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{secret}", kept: "yes" },
  managedFields: [{ manager: "m" }],
};
const object = (kind: string, more: object): Stored =>
  ({ apiVersion: "v1", kind, metadata, ...more }) as unknown as Stored;

test("publishable - removes managed fields and the last-applied annotation", () => {
  const clean = publishable(Pod, object("Pod", { spec: { x: 1 } }));
  expect(clean).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "n", uid: "u-1", resourceVersion: "7", annotations: { kept: "yes" } },
    spec: { x: 1 },
  });
});

test.each([
  [Secret, { data: { password: "cGFzcw==" }, stringData: { a: "b" }, type: "Opaque" }],
  [ConfigMap, { data: { a: "b" }, binaryData: { c: "ZA==" }, immutable: true }],
])("publishable - keeps only the metadata of $kind", (kind, content) => {
  expect(Object.keys(publishable(kind, object(kind.kind, content))).sort()).toEqual([
    "apiVersion",
    "kind",
    "metadata",
  ]);
});

test("publishable - removes credentials that a program printed into a status", () => {
  const message = "Container build terminated with error: GITHUB_TOKEN=ghs_abc123 is not good";
  const pod = object("Pod", {
    spec: { x: 1 },
    status: { conditions: [{ type: "Ready", message }], phase: "Failed" },
  });
  expect(publishable(Pod, pod)).toMatchObject({
    status: {
      conditions: [{ message: "Container build terminated with error: GITHUB_TOKEN=*** is not good" }],
      phase: "Failed",
    },
  });
});

test("publishable - keeps only the declared fields of a kind that declares them", () => {
  const Run = externalKind({
    ...Pod,
    kind: "Run",
    fields: ["spec.source.revision", "spec.tags", "status.conditions.type", "status.steps.state.code"],
  });
  const run = object("Run", {
    spec: { source: { revision: "a", url: "u" }, tags: ["t"], env: [{ name: "A", value: "b" }] },
    status: {
      conditions: [{ type: "Done", message: "denied robot:hunter-2" }],
      steps: [{ state: { code: 1, message: "denied robot:hunter-2" } }, { state: null }],
      log: "denied robot:hunter-2",
    },
    data: { a: "b" },
  });
  expect(publishable(Run, run)).toEqual({
    apiVersion: "v1",
    kind: "Run",
    metadata: expect.objectContaining({ name: "a" }),
    spec: { source: { revision: "a" }, tags: ["t"] },
    status: { conditions: [{ type: "Done" }], steps: [{ state: { code: 1 } }, { state: undefined }] },
  });
  expect(publishable(Run, object("Run", { spec: { x: 1 } }))).toMatchObject({ kind: "Run", spec: {} });
});

test("publishable - keeps only allowed annotations of a Secret", () => {
  const annotations = {
    "kapp.k14s.io/original": "{secret}",
    "example.com/future": "{secret}",
    "denrei.dev/owner-name": "a",
    "example.com/host": "git.example.com",
  };
  const secret = { ...object("Secret", { data: {} }), metadata: { ...metadata, annotations } };
  const clean = publishable(Secret, secret as unknown as Stored, new Set(["example.com/host"]));
  expect(clean.metadata.annotations).toEqual({
    "denrei.dev/owner-name": "a",
    "example.com/host": "git.example.com",
  });
});

test("change event - has the object's identity and version as its id", () => {
  const event = changeEvent(Pod, "deleted", publishable(Pod, object("Pod", {})), { resourceVersion: "9" });
  expect(event).toMatchObject({
    id: "u-1.9",
    source: "/api/v1/namespaces/n/pods/a",
    subject: "n/a",
    type: "dev.denrei.kubernetes.deleted",
  });
  expect(versionOf(event.id)).toEqual({ uid: "u-1", resourceVersion: "9" });
  expect(isDeletion(event.type)).toBe(true);
  expect(isDeletion(changeType("added"))).toBe(false);
});

test("change event - reads a change that only another version knows, not as a deletion", () => {
  const headers = MsgHdrsImpl.fromRecord({
    "ce-id": ["u-1.9"],
    "ce-type": ["dev.denrei.kubernetes.moved"],
    "ce-other": ["x"],
  });
  expect(changeHead(headers)).toEqual({
    ...{ uid: "u-1", resourceVersion: "9", deleted: false },
    ...{ partial: false, correction: false },
  });
});

test("publishedForm - distinguishes the published fields of a kind, and annotations that are selectable", () => {
  const fields = ["spec.a"];
  const forms = [
    publishedForm(Pod),
    publishedForm({ ...Pod, fields }),
    publishedForm({ ...Pod, fields: [...fields, "status.b"] }),
    publishedForm(Secret),
    publishedForm(Secret, new Set(["a"])),
    publishedForm(Secret, new Set(["a", "b"])),
  ];
  expect(new Set(forms).size).toBe(forms.length);
  expect(publishedForm(Secret, new Set(["b", "a"]))).toBe(forms.at(-1));
  expect(publishedForm(Pod, new Set(["a"]))).toBe(forms[0]);
});
