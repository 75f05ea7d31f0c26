/** The admission policy in deploy/kubernetes/app-use, on a real API server. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";

const policyFile = new URL("../../deploy/kubernetes/app-use/policy.yaml", import.meta.url);
const manager = { fieldManager: "test" };

const plurals: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
  ClusterRole: "clusterroles",
  RoleBinding: "rolebindings",
};
function kindOf({ apiVersion, kind }: KubeObject): Kind {
  const [group = "", version = ""] = apiVersion.split("/");
  const scope = kind === "RoleBinding" ? "Namespaced" : "Cluster";
  return externalKind({ group, version, kind, plural: plurals[kind] ?? "", scope });
}

let environment: LocalTestEnvironment;
const opened: KubeConnection[] = [];
const create = (object: unknown) =>
  environment.client.create(kindOf(object as KubeObject), object as KubeObject, manager);
const rbac = "rbac.authorization.k8s.io/v1";
const role = (name: string, resource: string, verbs: string[], resourceNames?: string[]) =>
  create({
    apiVersion: rbac,
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ apiGroups: ["ghapp.tsuzu.dev"], resources: [resource], verbs, resourceNames }],
  });
const bind = (name: string, user: string) =>
  create({
    apiVersion: rbac,
    kind: "RoleBinding",
    metadata: { name: `${name}-${user}`, namespace: "default" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  });

async function as(user: string): Promise<KubeClient> {
  const connection = await openConnection(
    loadKubeconfig({ path: await environment.platform.kubeconfigFor(user) }),
  );
  opened.push(connection);
  return kubeClient(connection);
}

const installation = (name: string, kind: "GitHubApp" | "ClusterGitHubApp", app: string): Installation => ({
  apiVersion: "ghapp.tsuzu.dev/v1alpha1",
  kind: "Installation",
  metadata: { name, namespace: "default" },
  spec: { appRef: { kind, name: app }, installationID: 1, key: "token", template: {} },
});

beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  const documents = parseAllDocuments(await readFile(policyFile, "utf8")).map((one) => one.toJS());
  await role("writer", "installations", ["create", "get", "update", "patch"]);
  await role("use-main", "clustergithubapps", ["use"], ["main"]);
  await role("use-own", "githubapps", ["use"], ["own"]);
  for (const user of ["ann", "bob"]) await bind("writer", user);
  await bind("use-main", "ann");
  await bind("use-own", "ann");
  for (const document of documents) await create(document);
  // The API server compiles a new policy in the background.
  const bob = await as("bob");
  const probe = installation("probe", "GitHubApp", "x");
  const dry = { ...manager, dryRun: "All" } as const;
  const refusal = () => bob.create(Installation, probe, dry).then(() => "none", String);
  const polling = { timeout: 60_000, interval: 100 };
  await vi.waitUntil(async () => (await refusal()).includes("bob may not use"), polling);
  // It also learns of roles in the background.
  const ann = await as("ann");
  for (const [kind, app] of [
    ["ClusterGitHubApp", "main"],
    ["GitHubApp", "own"],
  ] as const)
    await vi.waitFor(() => ann.create(Installation, installation("probe", kind, app), dry), polling);
});
afterAll(async () => {
  for (const connection of opened) await connection.close();
  await environment?.stop();
});

test("a user who may use an App may create an Installation of it", async () => {
  const ann = await as("ann");
  await ann.create(Installation, installation("main", "ClusterGitHubApp", "main"), manager);
  await ann.create(Installation, installation("own", "GitHubApp", "own"), manager);
});

test("a user who may not use it is denied, with the missing right", async () => {
  const bob = await as("bob");
  const refused = bob.create(Installation, installation("other", "ClusterGitHubApp", "main"), manager);
  await expect(refused).rejects.toThrow(/403.*bob may not use the ClusterGitHubApp main in default/);
  const ann = await as("ann");
  for (const [kind, app] of [
    ["ClusterGitHubApp", "other"],
    ["GitHubApp", "main"],
    ["ClusterGitHubApp", "own"],
  ] as const)
    await expect(ann.create(Installation, installation("third", kind, app), manager)).rejects.toThrow("403");
});

test("a user who may not use the App may label its Installation, but not change what it requests", async () => {
  const bob = await as("bob");
  const at = { namespace: "default", name: "main" };
  await bob.mergePatch(Installation, at, { metadata: { labels: { seen: "yes" } } }, manager);
  const widened = { spec: { permissions: { administration: "write" } } };
  await expect(bob.mergePatch(Installation, at, widened, manager)).rejects.toThrow(
    /403.*bob may not use the ClusterGitHubApp/,
  );
});
