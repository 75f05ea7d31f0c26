import { expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { definedKinds } from "../../bus/worker/definedkinds.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { functions as all } from "../../functions/index.ts";
import { parseConfig } from "../../functions/paas/site/config.ts";
import hikawa from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { optInManifests, roleManifests, separateAccounts, withRoleSuffix } from "./rbac.ts";

const reader = defineFunction({
  name: "reader",
  for: Hikawa,
  watches: [{ kind: Secret, keys: () => [] }],
  reconcile: async () => undefined,
});
const functions = [hikawa, reader];

/** Summarizes manifests as `Kind namespace/name -> role of account`, without absent parts. */
const summaryOf = (manifests: readonly Record<string, unknown>[]): string[] =>
  manifests.map((manifest) => {
    const { kind, metadata, roleRef, subjects } = manifest as {
      kind: string;
      metadata: { namespace?: string; name: string };
      roleRef?: { name: string };
      subjects?: { namespace: string; name: string }[];
    };
    const of = subjects?.map(({ namespace, name }) => `${namespace}/${name}`).join();
    const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
    return `${kind} ${name}${roleRef ? ` -> ${roleRef.name} of ${of}` : ""}`;
  });

test("roles - rights on Secrets are in a separate role, bound only in the platform's namespace", () => {
  expect(summaryOf(roleManifests(separateAccounts(functions), "here"))).toEqual([
    "ServiceAccount here/denrei-bridge",
    "ClusterRole denrei-bridge",
    "ClusterRoleBinding denrei-bridge -> denrei-bridge of here/denrei-bridge",
    "ClusterRole denrei-bridge-opted-in",
    "RoleBinding here/denrei-bridge-opted-in -> denrei-bridge-opted-in of here/denrei-bridge",
    "ServiceAccount here/denrei-hikawa",
    "ClusterRole denrei-hikawa",
    "ClusterRoleBinding denrei-hikawa -> denrei-hikawa of here/denrei-hikawa",
    "ServiceAccount here/denrei-reader",
    "ClusterRole denrei-reader",
    "ClusterRoleBinding denrei-reader -> denrei-reader of here/denrei-reader",
    "ClusterRole denrei-reader-opted-in",
    "RoleBinding here/denrei-reader-opted-in -> denrei-reader-opted-in of here/denrei-reader",
  ]);
});

test("opt-in - binds the bridge and the functions that use Secrets", () => {
  const manifests = optInManifests(separateAccounts(functions), ["team-a", "team-b"], "here");
  expect(summaryOf(manifests)).toEqual(
    ["team-a", "team-b"].flatMap((namespace) => [
      `RoleBinding ${namespace}/denrei-bridge-opted-in -> denrei-bridge-opted-in of here/denrei-bridge`,
      `RoleBinding ${namespace}/denrei-reader-opted-in -> denrei-reader-opted-in of here/denrei-reader`,
    ]),
  );
});

test("opt-in - binds nothing when no function uses Secrets", () => {
  expect(optInManifests(separateAccounts([hikawa]), ["team-a"], "here")).toEqual([]);
});

test("a site cannot list a kind of this project, so charts cannot create objects of it", () => {
  for (const { group, version, kind, plural } of definedKinds(all))
    expect(
      () =>
        parseConfig(`kinds: [{ group: ${group}, version: ${version}, kind: ${kind}, plural: ${plural} }]`),
      kind,
    ).toThrow(`kinds.0: charts may not make ${kind}`);
});

test("a further project has its own roles of a bridge, and the same service accounts in its namespace", () => {
  const bridge = separateAccounts([reader]).filter(({ name }) => name === "denrei-bridge");
  const manifests = roleManifests(bridge, "there");
  expect(summaryOf(withRoleSuffix(manifests, "-b"))).toEqual([
    "ServiceAccount there/denrei-bridge",
    "ClusterRole denrei-bridge-b",
    "ClusterRoleBinding denrei-bridge-b -> denrei-bridge-b of there/denrei-bridge",
    "ClusterRole denrei-bridge-opted-in-b",
    "RoleBinding there/denrei-bridge-opted-in-b -> denrei-bridge-opted-in-b of there/denrei-bridge",
  ]);
});
