/** RBAC alone decides what a user may see and do; the dashboard adds no decisions of its own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import { definedKinds } from "../../bus/worker/definedkinds.ts";
import { type ApiServer, openApiServer } from "../../dashboard/server/kubernetes/apiserver.ts";
import { grantRoles } from "../../deploy/environment/grants.ts";
import { functions } from "../../functions/index.ts";
import { Application } from "../../functions/paas/kinds.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import { openRecords, type Records } from "../harness/sessionrecords.ts";
import { type RequestOptions, sessionCookieName, type Visitor } from "../harness/visitor.ts";

type Name = keyof typeof people;
const names = Object.keys(people) as Name[];

let environment: DashboardEnvironment;
let records: Records;
let apiServer: ApiServer;
let visitors: Record<Name, Visitor>;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  records = await openRecords(environment);
  apiServer = await openApiServer({ path: environment.platform.kubeconfigPath });
  visitors = {
    alice: await environment.visitor(people.alice),
    bob: await environment.visitor(people.bob),
    carol: await environment.visitor(people.carol),
  };
  for (const namespace of [team, foreign])
    await environment.client.create(Application, application("web", namespace), { fieldManager: "test" });
});
afterAll(async () => {
  await apiServer?.close();
  await records?.close();
  await environment?.stop();
});

const apps = (namespace: string) => `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${namespace}/applications`;
const application = (name: string, namespace: string) => ({
  apiVersion: apiVersionOf(Application),
  kind: "Application",
  metadata: { name, namespace },
  spec: { domains: [`${name}.${namespace}.example.com`], replicas: 1 },
});

interface Request {
  readonly method: NonNullable<RequestOptions["method"]>;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
}

const patch = { method: "PATCH", type: "application/merge-patch+json" } as const;
const requests: readonly Request[] = [
  { method: "GET", path: "/apis/modoki.tsuzu.dev/v1alpha1/applications" },
  { method: "GET", path: "/api/v1/namespaces" },
  ...[team, foreign].flatMap((namespace): readonly Request[] => [
    { method: "GET", path: apps(namespace) },
    { method: "GET", path: `${apps(namespace)}/web` },
    { method: "GET", path: `${apps(namespace)}/none` },
    { method: "POST", path: `${apps(namespace)}?dryRun=All`, body: application("new", namespace) },
    { ...patch, path: `${apps(namespace)}/web?dryRun=All`, body: { spec: { replicas: 2 } } },
    { ...patch, path: `${apps(namespace)}/web/scale?dryRun=All`, body: { spec: { replicas: 2 } } },
    { method: "GET", path: `${apps(namespace)}/web/scale` },
    { method: "DELETE", path: `${apps(namespace)}/web?dryRun=All` },
    { method: "GET", path: `/api/v1/namespaces/${namespace}` },
    { method: "GET", path: `/api/v1/namespaces/${namespace}/pods` },
    { method: "GET", path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events` },
    { method: "GET", path: `/apis/apps/v1/namespaces/${namespace}/deployments` },
  ]),
];

interface Outcome {
  readonly status: number;
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
}

const outcome = (status: number, text: string): Outcome => {
  const { kind = "", reason = "", message = "" } = JSON.parse(text) as Partial<Outcome>;
  return { status, kind, reason, message };
};

/** The API server's response to the user's token, as kubectl would get it. */
async function directly(user: Visitor, { method, path, body, type }: Request): Promise<Outcome> {
  const { session } = await records.of(user.cookies.get(sessionCookieName));
  const answer = await apiServer.request({
    method,
    path,
    token: session.idToken,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": type ?? "application/json" }),
    },
    signal: AbortSignal.timeout(60_000),
    lasts: "short",
  });
  return outcome(answer.statusCode, await answer.body.text());
}

async function byDashboard(user: Visitor, { method, path, body, type }: Request): Promise<Outcome> {
  const { status, text } = await user.ask(`/api/kubernetes${path}`, {
    method,
    body,
    ...(type !== undefined && { headers: { "content-type": type } }),
  });
  return outcome(status, text);
}

describe.each(names)("%s", (name) => {
  test("gets the same responses from the dashboard as from the API server", async () => {
    const user = visitors[name];
    const answers: { request: string; direct: Outcome; dashboard: Outcome }[] = [];
    for (const request of requests)
      answers.push({
        request: `${request.method} ${request.path}`,
        direct: await directly(user, request),
        dashboard: await byDashboard(user, request),
      });
    for (const { request, direct, dashboard } of answers)
      expect({ request, ...dashboard }).toEqual({ request, ...direct });
    const allowed = answers.filter(({ direct: { status } }) => status < 300).map(({ request }) => request);
    // The users differ; otherwise the comparison would prove little.
    expect(allowed.length).toBe({ alice: 11, bob: 7, carol: 0 }[name]);
    expect(allowed.filter((request) => !request.includes(team))).toEqual([]);
  });
});

test("the administrator of a local platform may write and delete every kind of the namespace, and no other", async () => {
  const { client } = environment;
  await grantRoles(client, [{ name: "dana", password: "", groups: [], role: "admin" }], foreign);
  const isAllowed = async ({ group, plural: resource }: Kind, verb: string, namespace: string) => {
    const resourceAttributes = { group, resource, verb, namespace };
    const answer = await client.request<{ status: { allowed: boolean } }>({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "dana", resourceAttributes },
      },
    });
    return answer.status.allowed;
  };
  const kinds = definedKinds(functions).filter(({ scope }) => scope === "Namespaced");
  expect(kinds.map(({ kind }) => kind)).toContain("Piped");
  const refused = async (namespace: string) => {
    const found = kinds.flatMap((kind) =>
      ["create", "patch", "delete"].map(async (verb) =>
        (await isAllowed(kind, verb, namespace)) ? [] : [`${verb} ${kind.kind}`],
      ),
    );
    return (await Promise.all(found)).flat();
  };
  // The roles of the standard ones are added a moment after they are created.
  await expect.poll(() => refused(foreign)).toEqual([]);
  expect(await refused(team)).toHaveLength(3 * kinds.length);
});

test("a user in more groups than fit a cookie has a small cookie, and all of the groups", async () => {
  const { cookies } = visitors.carol;
  expect(cookies.get(sessionCookieName)?.length).toBeLessThan(300);
  const { session } = await records.of(cookies.get(sessionCookieName));
  expect(session.idToken.length).toBeGreaterThan(4096);
  const { message } = await byDashboard(visitors.carol, { method: "GET", path: apps(team) });
  expect(message).toContain('User "carol" cannot list resource "applications"');
});

test("the dashboard forwards nothing outside its allow list, whatever RBAC says", async () => {
  const secrets = `/api/v1/namespaces/${team}/secrets`;
  expect((await directly(visitors.alice, { method: "GET", path: secrets })).status).toBe(200);
  expect(await byDashboard(visitors.alice, { method: "GET", path: secrets })).toMatchObject({
    status: 403,
    reason: "NotAllowed",
  });
});

test("request headers cannot change the user", async () => {
  const answer = await visitors.carol.ask(`/api/kubernetes${apps(team)}`, {
    headers: {
      "impersonate-user": "alice",
      authorization: `Bearer ${(await records.of(visitors.alice.cookies.get(sessionCookieName))).session.idToken}`,
    },
  });
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('User \\"carol\\" cannot');
});

test("a change is made in the name of its user", async () => {
  const created = await visitors.alice.ask(`/api/kubernetes${apps(team)}`, {
    method: "POST",
    body: application("by-alice", team),
  });
  expect(created.status).toBe(201);
  const refused = await visitors.bob.ask(`/api/kubernetes${apps(team)}/by-alice`, { method: "DELETE" });
  expect(refused.status).toBe(403);
  expect((await environment.list(Application, team)).map(({ metadata }) => metadata.name)).toEqual([
    "by-alice",
    "web",
  ]);
});

test("a user learns only of namespaces in which the user has a role", async () => {
  const query = new URLSearchParams(
    [team, foreign, "none"].map((known): [string, string] => ["known", known]),
  );
  const visible = async (name: Name) => (await visitors[name].ask(`/api/namespaces?${query}`)).json();
  expect(await visible("alice")).toEqual({ everywhere: false, namespaces: [team] });
  expect(await visible("bob")).toEqual({ everywhere: false, namespaces: [team] });
  expect(await visible("carol")).toEqual({ everywhere: false, namespaces: [] });
});
