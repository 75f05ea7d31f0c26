import { expect, test } from "vitest";
import type { ApiRequest } from "./client.ts";
import { discoverKind } from "./discovery.ts";
import { ApiError } from "./errors.ts";

/** A simulated API server that answers these paths, and the requests that it received. */
function answering(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const request = async <R>({ path }: ApiRequest): Promise<R> => {
    asked.push(path);
    if (!(path in answers)) throw new ApiError(`GET ${path}`, 404, { message: "not found" });
    return answers[path] as R;
  };
  return { asked, request };
}

const cronJobs = [
  { name: "cronjobs", kind: "CronJob", namespaced: true },
  { name: "cronjobs/status", kind: "CronJob", namespaced: true },
];

test("finds a kind with its plural and scope, ignoring its subresources", async () => {
  const client = answering({
    "/api/v1": { resources: [{ name: "nodes", kind: "Node", namespaced: false }] },
    "/apis/batch/v1": { resources: [...cronJobs].reverse() },
  });
  expect(await discoverKind(client, "batch/v1", "CronJob")).toMatchObject({
    group: "batch",
    version: "v1",
    plural: "cronjobs",
    scope: "Namespaced",
  });
  expect(await discoverKind(client, "v1", "Node")).toMatchObject({
    group: "",
    plural: "nodes",
    scope: "Cluster",
  });
});

test("uses the preferred version if the given one is not served", async () => {
  const client = answering({
    "/apis/batch": { preferredVersion: { version: "v1" } },
    "/apis/batch/v1": { resources: cronJobs },
  });
  expect(await discoverKind(client, "batch/v1beta1", "CronJob")).toMatchObject({ version: "v1" });
  expect(await discoverKind(client, "batch/v1beta1", "Other")).toBeUndefined();
});

test("returns undefined for a kind that is not served, and throws on other failures", async () => {
  expect(await discoverKind(answering({}), "example.com/v1", "Widget")).toBeUndefined();
  const broken = { request: () => Promise.reject(new ApiError("GET", 503, { message: "away" })) };
  await expect(discoverKind(broken, "example.com/v1", "Widget")).rejects.toThrow("away");
});

test.each(["../v1", "a/../v1", "a/b/v1", "example.com/v1?x=1", "", "exa..mple/v1"])(
  "sends no request for the apiVersion %j",
  async (apiVersion) => {
    const client = answering({});
    expect(await discoverKind(client, apiVersion, "Widget")).toBeUndefined();
    expect(client.asked).toEqual([]);
  },
);
