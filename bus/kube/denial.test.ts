import { expect, test } from "vitest";
import { actionOf, adviceFor, type Denial, denialOf, ruleFor, ruleText } from "./denial.ts";

/** `verb group/resource namespace name` of a request. */
function actionText(method: string, path: string, query?: object): string | undefined {
  const action = actionOf({ method, path, ...(query && { query: { ...query } }) });
  return (
    action && [action.verb, action.group, action.resource, action.namespace, action.name].join(" ").trim()
  );
}

test.each([
  ["GET", "/api/v1/namespaces/a/pods/p/log", "get  pods/log a p"],
  ["GET", "/apis/batch/v1/namespaces/a/jobs", "list batch jobs a"],
  ["GET", "/apis/batch/v1/jobs", "list batch jobs"],
  ["POST", "/apis/events.k8s.io/v1/namespaces/a/events", "create events.k8s.io events a"],
  ["PUT", "/apis/batch/v1/namespaces/a/jobs/j", "update batch jobs a j"],
  ["PATCH", "/apis/g.dev/v1/namespaces/a/things/t/status", "patch g.dev things/status a t"],
  ["DELETE", "/apis/g.dev/v1/wides/w", "delete g.dev wides  w"],
  ["DELETE", "/apis/batch/v1/namespaces/a/jobs", "deletecollection batch jobs a"],
  ["GET", "/api/v1/namespaces/a", "get  namespaces  a"],
  ["GET", "/api/v1/namespaces", "list  namespaces"],
  ["PATCH", "/api/v1/namespaces/a/status", "patch  namespaces/status  a"],
  ["GET", "/apis/batch/v1/namespaces/status/jobs", "list batch jobs status"],
  ["GET", "/version", undefined],
  ["GET", "/apis/batch/v1", undefined],
])("%s %s is the action: %s", (method, path, text) => {
  expect(actionText(method, path)).toBe(text);
});

test("a list with the parameter watch is a watch", () => {
  expect(actionText("GET", "/apis/batch/v1/jobs", { watch: 1 })).toBe("watch batch jobs");
});

const cannot = (verb: string, resource: string) =>
  `${resource} is forbidden: User "u" cannot ${verb} resource "${resource}" in API group ""`;
const list = { method: "GET", path: "/apis/batch/v1/namespaces/a/jobs" };

test.each([
  ["action", cannot("list", "jobs")],
  ["action", 'forbidden: User "u" cannot get path "/metrics"'],
  ["impersonation", cannot("impersonate", "serviceaccounts")],
  ["impersonation", cannot("impersonate-on:serviceaccount:create", "jobs")],
  [
    "unknown-user",
    'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group ""',
  ],
  ["escalation", 'user "u" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n{}'],
  [
    "owner-deletion",
    'jobs.batch "j" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>',
  ],
  [undefined, 'pods "p" is forbidden: violates PodSecurity "restricted:latest": hostPort'],
  [undefined, 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'],
  [undefined, 'admission webhook "w.example.com" denied the request: no'],
  [undefined, undefined],
])("the cause of a 403 is %s: %s", (cause, message) => {
  expect(denialOf(list, message)?.cause).toBe(cause);
});

test("server-side apply also needs create, unless it names an existing object", () => {
  const patch = { method: "PATCH", path: "/apis/batch/v1/namespaces/a/jobs/j" };
  const apply = { ...patch, contentType: "application/apply-patch+yaml" };
  const verbs = (request: typeof patch & { body?: unknown }) =>
    denialOf(request, cannot("patch", "jobs"))?.verbs;
  expect(verbs(patch)).toEqual(["patch"]);
  expect(verbs({ ...apply, body: { metadata: { name: "j" } } })).toEqual(["create", "patch"]);
  expect(verbs({ ...apply, body: { metadata: { name: "j", uid: "u" } } })).toEqual(["patch"]);
});

const denied = (path: string, message = cannot("list", "any")) =>
  denialOf({ method: "GET", path }, message) as Denial;

test.each([
  ["/apis/batch/v1/jobs", ruleText({ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] })],
  ["/api/v1/namespaces/team-a/secrets/s", "denrei opt-in team-a | kubectl apply -f -"],
  ["/api/v1/secrets", "denrei opt-in <namespace> | kubectl apply -f -"],
])("says what a user needs for %s", (path, advice) => {
  expect(adviceFor(denied(path))).toContain(advice);
});

test("a rule can be pasted into a declaration", () => {
  const rule = ruleFor({ verb: "list", group: "batch", resource: "jobs", namespace: "a", name: undefined }, [
    "list",
  ]);
  expect(ruleText(rule)).toBe('{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] }');
});
