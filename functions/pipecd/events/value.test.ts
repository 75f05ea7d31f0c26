import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { RemoteSync } from "../../paas/kinds/remotesync.ts";
import type { EventRegistration } from "../kinds.ts";
import { currentValue } from "./value.ts";

const [revision, digest] = ["a".repeat(40), `sha256:${"1".repeat(64)}`];
const image = `registry.example.com/web@${digest}`;
const status = { observedGeneration: 2, revision, latestImage: image, latestImageRevision: revision };

const built = (condition: string, message = "") => ({
  conditions: [{ type: "Built", status: condition, message }],
});

/** The value of a registration in a namespace with the given RemoteSync, or without one. */
const valueWith = (
  found: { readonly status?: object; readonly metadata?: object } | undefined,
  source: EventRegistration["spec"]["source"] = { remoteSync: { name: "web" } },
) =>
  currentValue({ spec: { name: "web-image", projectID: "quickstart", source } }, {
    key: { namespace: "team", name: "web-image" },
    read: {
      get: async () =>
        found &&
        ({ ...found, metadata: { name: "web", generation: 2, ...found.metadata } } as Stored<RemoteSync>),
    },
  } as unknown as Parameters<typeof currentValue>[1]);

test("is spec.source.data", async () => {
  expect(await valueWith(undefined, { data: "v1.2.3" })).toEqual({ data: "v1.2.3", commit: "" });
});

test("is the image of the RemoteSync, or its digest, with the commit of the build", async () => {
  const found = { status: { ...status, ...built("True") } };
  expect(await valueWith(found)).toEqual({ data: image, commit: revision });
  const source = { remoteSync: { name: "web", value: "Digest" as const } };
  expect(await valueWith(found, source)).toEqual({ data: digest, commit: revision });
});

test.each([
  ["a build is running", { ...status, ...built("Unknown", "build 2: export") }, "build 2: export"],
  ["the build has failed", { ...status, ...built("False", "build 2 failed") }, "build 2 failed"],
  [
    "a change of the RemoteSync was not reconciled",
    { ...status, observedGeneration: 1, ...built("True") },
    "",
  ],
  ["the RemoteSync has no status", {}, "not been reconciled"],
  [
    "the image is of another revision",
    { ...status, revision: "b".repeat(40), ...built("True") },
    "an earlier revision",
  ],
  [
    "the image has no digest",
    { ...status, latestImage: "registry.example.com/web:1", ...built("True") },
    "no digest",
  ],
])("is missing while %s", async (_, of, message) => {
  const { missing } = await valueWith({ status: of });
  expect(missing).toMatchObject({ reason: "ImageNotBuilt", message: expect.stringContaining(message) });
});

test("is missing without the RemoteSync, or while it is being deleted", async () => {
  const deleted = {
    status: { ...status, ...built("True") },
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  for (const found of [undefined, deleted])
    expect((await valueWith(found)).missing).toEqual({
      reason: "RemoteSyncNotFound",
      message: "RemoteSync web not found in team",
    });
});
