/**
 * A member of the namespace can read every Secret there, and still cannot write to the repository. The token that builds use to clone
 * can only read one repository; tokens that can write exist only in the memory of workers.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { isForbidden } from "../../bus/kube/errors.ts";
import { Secret } from "../../bus/kube/kind.ts";
import { ClusterGitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { functions } from "../../functions/index.ts";
import { AppPipeline } from "../../functions/paas/kinds.ts";
import { githubReports } from "../harness/githubreports.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type Paas, platformNamespace, polling, registry, startPaas } from "../harness/paas.ts";
import type { ClusterPlatform } from "../harness/platforms.ts";
import { grant } from "../harness/rights.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import { has } from "../harness/testobjects.ts";

const namespace = "team-a";
const user = "mallory";

let paas: Paas;
let member: KubeClient;
beforeAll(async () => {
  const ours = functions.map(({ name }) => name).filter((name) => name.startsWith("modoki-"));
  paas = await startPaas({ gateways: 1, functions: [...ours, "clustergithubapp", "installation"] });
  const { client, platform } = paas.environment;
  await createNamespace(client, namespace);
  await paas.accounts.optIn(namespace);
  await paas.registrySecret(namespace);
  const apiGroup = "rbac.authorization.k8s.io";
  const metadata = { name: "secret-reader" };
  await grant(client, [
    {
      ...{ apiVersion: `${apiGroup}/v1`, kind: "ClusterRole", metadata },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }],
    },
    {
      ...{ apiVersion: `${apiGroup}/v1`, kind: "RoleBinding", metadata: { ...metadata, namespace } },
      roleRef: { apiGroup, kind: "ClusterRole", name: metadata.name },
      subjects: [{ apiGroup, kind: "User", name: user }],
    },
  ]);
  const path = await (platform as ClusterPlatform).kubeconfigFor(user);
  member = kubeClient(await openConnection(loadKubeconfig({ path })));
});
afterAll(() => paas?.stop());

/** An App for the namespace, an Installation with separate tokens, and a pipeline that uses it. */
async function pipeline(): Promise<void> {
  const [app] = paas.github.apps;
  const privateKeySecretRef = { name: "gh-app-key", key: "private-key.pem" };
  await paas.create(Secret, {
    metadata: { namespace: platformNamespace, name: privateKeySecretRef.name },
    data: { [privateKeySecretRef.key]: base64(app?.privateKey ?? "") },
  });
  const apiPermissions = { pull_requests: "write", statuses: "write", deployments: "write" };
  const permissions = { contents: "read", ...apiPermissions };
  await paas.create(ClusterGitHubApp, {
    metadata: { name: "main" },
    spec: {
      url: paas.github.url,
      appID: app?.id,
      privateKeySecretRef,
      allowed: [{ namespaces: [namespace], repositories: ["acme/web"], permissions }],
    },
  });
  await paas.create(Installation, {
    metadata: { namespace, name: "acme-web" },
    spec: {
      appRef: { kind: "ClusterGitHubApp", name: "main" },
      installationID: app?.installations[0]?.id,
      repositories: ["web"],
      apiPermissions,
      format: "basic-auth",
      template: { metadata: { annotations: { "kpack.io/git": paas.github.url } } },
    },
  });
  await paas.create(AppPipeline, {
    metadata: { namespace, name: "web" },
    spec: {
      domainBase: "preview.example.com",
      applicationTemplate: {},
      base: { github: { owner: "acme", repo: "web", secretName: "acme-web" } },
      image: { name: `${registry}/acme/web`, secretName: "regcred" },
      report: { deployment: true },
    },
  });
}

/** Every possible token in the Secrets: whole values, and words in them. */
async function found(): Promise<ReadonlySet<string>> {
  const { items } = await member.list(Secret, namespace);
  const values = items.flatMap((secret) => [
    ...Object.values(texts(secret)),
    JSON.stringify(secret.metadata),
  ]);
  return new Set(values.flatMap((value) => [value.trim(), ...(value.match(/[A-Za-z0-9_.-]{10,}/g) ?? [])]));
}

const statusOf = async (token: string, method: string, path: string, body?: object): Promise<number> => {
  const response = await fetch(`${paas.github.url}/api/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
};

test("a member who can read every Secret of the namespace can read the code but write nothing, while the platform can", async () => {
  await pipeline();
  const pull = await paas.github.openPullRequest({ repository: "acme/web", branch: "change" });
  await paas.environment.until(Installation, { namespace, name: "acme-web" }, has("Ready", "True"));
  await paas.environment.until(AppPipeline, { namespace, name: "web" }, ({ status }) =>
    Boolean(status?.previews?.some(({ phase }) => phase === "Ready")),
  );
  const reports = githubReports(paas, "web", namespace);
  await expect
    .poll(async () => (await reports.comments(pull.number))[0]?.body, polling)
    .toMatch(/State \| Ready/);
  await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("success");

  const tokens = await found();
  const own = paas.github.tokens().filter((token) => tokens.has(token));
  expect(own).toHaveLength(1);
  const [token = ""] = own;
  expect(paas.github.permissionsOf(token)).toEqual({ contents: "read" });

  const root = "/repos/acme/web";
  const sha = pull.headSha;
  const writes: readonly (readonly [method: string, path: string, body: object])[] = [
    ["POST", `${root}/git/refs`, { ref: "refs/heads/mine", sha }],
    ["PATCH", `${root}/git/refs/heads/main`, { sha, force: true }],
    ["PUT", `${root}/contents/mine.txt`, { message: "m", content: base64("x"), branch: "main" }],
    ["POST", `${root}/statuses/${sha}`, { state: "success", context: "mine" }],
    ["POST", `${root}/issues/${pull.number}/comments`, { body: "mine" }],
    ["PUT", `${root}/pulls/${pull.number}/merge`, {}],
    ["PATCH", `${root}/pulls/${pull.number}`, { title: "mine" }],
    ["POST", `${root}/deployments`, { ref: sha, environment: "mine" }],
    ["POST", `${root}/issues`, { title: "mine" }],
  ];
  expect(await statusOf(token, "GET", `${root}/branches/main`)).toBe(200);
  expect(await statusOf(token, "GET", "/repos/acme/api")).toBe(404);
  for (const candidate of tokens)
    for (const [method, path, body] of writes) {
      // Not valid in a header.
      if (/[^\x20-\x7e]/.test(candidate)) continue;
      const status = await statusOf(candidate, method, path, body);
      expect([401, 403, 404], `${method} ${path}`).toContain(status);
    }
  const issued = paas.github.tokens();
  const writers = issued.filter((one) => paas.github.permissionsOf(one)?.statuses === "write");
  expect(writers.filter((one) => tokens.has(one))).toEqual([]);
  expect(writers.length).toBeGreaterThan(0);
  // The requests themselves are valid: the harness, which has a token with all rights, can make each of them.
  const all = issued.find((one) => paas.github.permissionsOf(one)?.contents === "write") ?? "";
  for (const [method, path, body] of writes)
    expect([200, 201], `${method} ${path}`).toContain(await statusOf(all, method, path, body));

  // The private key is out of reach.
  await expect(member.list(Secret, platformNamespace)).rejects.toSatisfy(isForbidden);
});
