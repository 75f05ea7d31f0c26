import { expect, test } from "vitest";
import type { ApiRequest } from "./client.ts";
import { discoverKind } from "./discovery.ts";
import { ApiError } from "./errors.ts";

/** An API server that answers these paths, and what it was asked. */
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

test("a kind is found with its plural and scope, and not by its subresources", async () => {
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

test("a version that is not served is replaced by the preferred one", async () => {
  const client = answering({
    "/apis/batch": { preferredVersion: { version: "v1" } },
    "/apis/batch/v1": { resources: cronJobs },
  });
  expect(await discoverKind(client, "batch/v1beta1", "CronJob")).toMatchObject({ version: "v1" });
  expect(await discoverKind(client, "batch/v1beta1", "Other")).toBeUndefined();
});

test("what is not served is not found, and other failures are thrown", async () => {
  expect(await discoverKind(answering({}), "example.com/v1", "Widget")).toBeUndefined();
  const broken = { request: () => Promise.reject(new ApiError("GET", 503, { message: "away" })) };
  await expect(discoverKind(broken, "example.com/v1", "Widget")).rejects.toThrow("away");
});

test.each(["../v1", "a/../v1", "a/b/v1", "example.com/v1?x=1", "", "exa..mple/v1"])(
  "%j is no path to ask for",
  async (apiVersion) => {
    const client = answering({});
    expect(await discoverKind(client, apiVersion, "Widget")).toBeUndefined();
    expect(client.asked).toEqual([]);
  },
);
