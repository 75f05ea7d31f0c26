import { describe, expect, test } from "vitest";
import type { Denial, DenialCause } from "../kube/denial.ts";
import { actionOf } from "../kube/denial.ts";
import { ConfigMap, externalKind, Secret } from "../kube/kind.ts";
import { defineFunction, type FunctionOptions } from "./function.ts";
import { missingRight } from "./missingrights.ts";

const Thing = externalKind({ group: "example.com", version: "v1", kind: "Thing", plural: "things" });
const census = (more: Partial<FunctionOptions<never>> = {}) =>
  defineFunction({
    name: "census",
    for: Thing,
    reconcile: async () => undefined,
    ...more,
  } as FunctionOptions<never>);

const jobs = "/apis/batch/v1/namespaces/a/jobs";
const secret = "/api/v1/namespaces/team-a/secrets/s";
const child = {
  kind: "Job",
  metadata: { name: "j", ownerReferences: [{ controller: true, uid: "u" }] },
};
const wide = { kind: "Wide", metadata: { name: "w", labels: { "denrei.dev/owner-uid": "u" } } };

function denial(request: string, sent?: unknown, cause: DenialCause = "action", verbs?: string[]): Denial {
  const [method = "", path = ""] = request.split(" ");
  const action = actionOf({ method, path });
  return { cause, action, verbs: verbs ?? (action ? [action.verb] : []), sent };
}
const local = (given: Denial, fn = census()) => missingRight(fn, given, "local");
const permission = (group: string, resource: string, verb: string) =>
  `permissions: [{ apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"] }]`;

describe("the entry to add", () => {
  test.each([
    ["a list", denial(`GET ${jobs}`), permission("batch", "jobs", "list")],
    ["a subresource", denial("GET /api/v1/namespaces/a/pods/p/log"), permission("", "pods/log", "get")],
    [
      "an object without a controller",
      denial(`POST ${jobs}`, { kind: "Job", metadata: { name: "j" } }),
      permission("batch", "jobs", "create"),
    ],
    [
      "a status",
      denial("PATCH /apis/g.dev/v1/namespaces/a/others/o/status"),
      permission("g.dev", "others/status", "patch"),
    ],
    ["a child", denial(`POST ${jobs}`, child), "owns: [Job]"],
    ["a child outside of the namespace", denial("PATCH /apis/g.dev/v1/wides/w", wide), "owns: [Wide]"],
    [
      "a child that blocks the deletion of its owner",
      denial(`POST ${jobs}`, child, "owner-deletion"),
      "owns: [Job]",
    ],
    [
      "another object that does",
      denial(`POST ${jobs}`, {}, "owner-deletion"),
      permission("example.com", "things/finalizers", "update"),
    ],
    [
      "a role with more permissions",
      denial("POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles", {}, "escalation"),
      permission("rbac.authorization.k8s.io", "roles", "escalate"),
    ],
    [
      "a binding of such a role",
      denial(
        "POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings",
        { roleRef: { kind: "ClusterRole" } },
        "escalation",
      ),
      permission("rbac.authorization.k8s.io", "clusterroles", "bind"),
    ],
    ["a new Secret", denial("POST /api/v1/namespaces/team-a/secrets"), "owns: [Secret]"],
  ])("for %s", (_, given, entry) => {
    expect(local(given)).toMatch(/^\. Add to the function census: /);
    expect(local(given)).toContain(`: ${entry}.`);
  });

  test("for an object that is only read, may also be a watch", () => {
    expect(local(denial(`GET ${jobs}/j`))).toBe(
      `. Add to the function census: ${permission("batch", "jobs", "get")}, or, to also reconcile when the object changes, its kind to watches.`,
    );
  });
});

test("in a cluster, the text also says how to roll the entry out", () => {
  expect(missingRight(census(), denial(`GET ${jobs}`), "cluster")).toBe(
    `. Add to the function census: ${permission("batch", "jobs", "list")}. Then ` +
      "apply its role: `npx denrei rbac census | kubectl apply -f -`",
  );
});

test("an entry that is declared already is not requested again", () => {
  const owner = census({ owns: [ConfigMap] });
  const given = denial("DELETE /api/v1/namespaces/a/configmaps/c");
  expect(missingRight(owner, given, "cluster")).toMatch(/declares this already, .* `npx denrei rbac census/);
  expect(local(given, owner)).toMatch(/declares this already/);
  const event = denial("POST /apis/events.k8s.io/v1/namespaces/a/events");
  expect(local(event)).toMatch(/declares this already/);
});

test("a Secret needs a declaration and an opt-in, and cannot be listed", () => {
  const optIn = "denrei opt-in team-a | kubectl apply -f -";
  expect(local(denial(`GET ${secret}`), census({ owns: [Secret] }))).toMatch(
    new RegExp(`^\\. Opt the namespace in: ${optIn.replace("|", "\\|")}`),
  );
  const undeclared = local(denial(`GET ${secret}`));
  expect(undeclared).toContain(
    "Add to the function census: Secret to watches, or, for children, owns: [Secret].",
  );
  expect(undeclared).toContain(optIn);
  expect(local(denial("GET /api/v1/namespaces/a/secrets"))).toContain("cannot list Secrets");
});
