import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";

test("an answer that is not a Status becomes one line, without a reason", () => {
  const error = new ApiError("GET /x", 404, { message: "404 page not found\n" });
  expect(error.message).toBe("GET /x was answered 404: 404 page not found");
  expect(new ApiError("GET /x", 502, { message: " " }).message).toBe("GET /x was answered 502: no message");
});

const account = "system:serviceaccount:denrei:denrei-hikawa";
const forbidden = (what: string) =>
  new ApiError("GET /x", 403, { reason: "Forbidden", message: what }).message;
const rbac = ". Grant it with a Role: `denrei rbac <function>` prints what a function needs.";

test.each([
  [
    `hikawas is forbidden: User "${account}" cannot list resource "hikawas" in API group "z" in the namespace "a"`,
    rbac,
  ],
  [`forbidden: User "${account}" cannot get path "/metrics"`, rbac],
  [
    `secrets "t" is forbidden: User "${account}" cannot get resource "secrets" in API group "" in the namespace "team-a"`,
    ". `denrei opt-in team-a` prints what is needed for the Secrets of a namespace.",
  ],
  [
    `secrets is forbidden: User "${account}" cannot list resource "secrets" in API group "" at the cluster scope`,
    ". `denrei opt-in <namespace>` prints what is needed for the Secrets of a namespace.",
  ],
  [
    'groups "admins" is forbidden: User "me" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ". Grant the verb impersonate to me, or remove `as` and its like from the kubeconfig.",
  ],
  [
    'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
    ". Check the user of the kubeconfig's current context.",
  ],
])("a missing right: %s", (message, advice) => {
  expect(forbidden(message)).toBe(`GET /x was answered 403 Forbidden: ${message}${advice}`);
});

test.each([
  'pods "p" is forbidden: violates PodSecurity "restricted:latest": hostPort',
  'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
  'configmaps "c" is forbidden: unable to create new content in namespace n because it is being terminated',
  'admission webhook "w.example.com" denied the request: no',
])("a refusal by admission has no advice about roles: %s", (message) => {
  expect(forbidden(message)).toBe(`GET /x was answered 403 Forbidden: ${message}`);
});
