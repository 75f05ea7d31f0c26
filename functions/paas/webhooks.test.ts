/** Objects that webhooks enqueue after a repository was renamed. */
import { expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import type { Find } from "../../bus/objects/indexes.ts";
import { keyText } from "../../bus/subjects.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import apppipeline from "./apppipeline.ts";
import type { AppPipeline, RemoteSync } from "./kinds.ts";
import remotesync from "./remotesync.ts";

const repository = { name: "acme/web", id: 1, fullName: "acme/web" };
const secretName = "token";
const image = { name: "registry.example.com/acme/web" };

const sync = (name: string, github: object, status: object = { repository }): Stored<RemoteSync> =>
  ({
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "RemoteSync",
    metadata: { namespace: "a", name, uid: name, resourceVersion: "1" },
    spec: {
      applicationRef: { name },
      base: { github: { owner: "acme", repo: "web", secretName, ...github } },
      image,
    },
    status,
  }) as Stored<RemoteSync>;
const pipeline = (name: string, repo: string, status: object = { repository }): Stored<AppPipeline> =>
  ({
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "AppPipeline",
    metadata: { namespace: "a", name, uid: name, resourceVersion: "1" },
    spec: {
      domainBase: "example.com",
      applicationTemplate: {},
      base: { github: { owner: "acme", repo, secretName } },
      image,
    },
    status,
  }) as Stored<AppPipeline>;

const syncs = [
  sync("main", { branch: "main" }),
  sync("default", {}),
  sync("next", { branch: "next" }),
  sync("seven", { pullRequest: 7 }, { repository, baseBranch: "main" }),
  sync("eight", { pullRequest: 8 }),
  sync("unknown", { branch: "main" }, {}),
  sync("tagged", { sha: "v1" }),
  sync(
    "other",
    { repo: "api", branch: "main" },
    { repository: { name: "acme/api", id: 2, fullName: "acme/api" } },
  ),
];
const pipelines = [
  pipeline("web", "web"),
  pipeline("new", "web", {}),
  pipeline("api", "api", { repository: { name: "acme/api", id: 2, fullName: "acme/api" } }),
];

/** Looks objects up as the bus does: by the index keys of the function. */
function finding<T extends Stored>(objects: readonly T[], indexes: object): Find {
  return async (index, value) => {
    const valuesOf = (indexes as Record<string, (object: T) => readonly string[]>)[index];
    return objects
      .filter((object) => valuesOf?.(object).includes(value))
      .map(({ metadata: { namespace = "", name } }) => ({ namespace, name }));
  };
}

/** Keys that a webhook about the repository with the id 1 enqueues. Its current name is `acme/<name>`. */
async function woken(
  event: "push" | "pull_request" | "repository",
  name: string,
  payload: object,
): Promise<string[]> {
  const webhook = {
    provider: "github",
    event,
    delivery: "1",
    owner: "acme",
    repository: name,
    data: {
      repository: {
        id: 1,
        name,
        full_name: `acme/${name}`,
        default_branch: "main",
        url: "",
        owner: { login: "acme" },
      },
      ...payload,
    },
    traceparent: undefined,
  };
  const of = async (fn: ReconcileFunction, objects: readonly Stored[]) => {
    const find = finding(objects, fn.indexes);
    const found = fn.webhooks
      .filter((trigger) => trigger.event === event)
      .map((trigger) => trigger.keys(webhook, find));
    return (await Promise.all(found)).flat();
  };
  const keys = [...(await of(remotesync, syncs)), ...(await of(apppipeline, pipelines))];
  return [...new Set(keys.map(keyText))].sort();
}

test.each(["web", "site"])("enqueues objects of the repository, which the webhook names %s", async (name) => {
  const byName = name === "web" ? ["a/unknown"] : [];
  const newPipeline = name === "web" ? ["a/new"] : [];
  expect(await woken("push", name, { ref: "refs/heads/main" })).toEqual(
    ["a/default", "a/main", "a/seven", ...byName].sort(),
  );
  expect(await woken("push", name, { ref: "refs/heads/next" })).toEqual(["a/next"]);
  expect(await woken("push", name, { ref: "refs/tags/v1" })).toEqual(["a/tagged"]);
  expect(await woken("push", name, { ref: "refs/tags/main" })).toEqual([]);
  expect(await woken("pull_request", name, { number: 7 })).toEqual(
    ["a/seven", "a/web", ...newPipeline].sort(),
  );
});

test("enqueues all objects with the previous name when the repository is renamed", async () => {
  const changes = { repository: { name: { from: "web" } } };
  const all = [
    "a/default",
    "a/eight",
    "a/main",
    "a/new",
    "a/next",
    "a/seven",
    "a/tagged",
    "a/unknown",
    "a/web",
  ];
  expect(await woken("repository", "site", { action: "renamed", changes })).toEqual(all);
});
