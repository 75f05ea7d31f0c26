/** Which requests of a page the dashboard forwards to the API server. */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiVersionOf, Secret } from "../../bus/kube/kind.ts";
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { auditEvents } from "../harness/audit.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import { base64 } from "../harness/secretvalues.ts";
import type { Visitor } from "../harness/visitor.ts";

const applications = (namespace: string) =>
  `/api/kubernetes/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${namespace}/applications`;
const json = { "content-type": "application/json" };
const merge = { "content-type": "application/merge-patch+json" };
const secret = "a value that must not leak";

const application = (name: string, spec: object = {}) => ({
  apiVersion: apiVersionOf(Application),
  kind: "Application",
  metadata: { name },
  spec: { domains: [`${name}.example.com`], ...spec },
});

let environment: DashboardEnvironment;
let alice: Visitor;
let bob: Visitor;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await environment.client.create(
    Secret,
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token", namespace: team },
      data: { key: base64(secret) },
    },
    { fieldManager: "test" },
  );
  alice = await environment.visitor(people.alice);
  bob = await environment.visitor(people.bob);
});
afterAll(() => environment?.stop());

const create = (session: Visitor, name: string, spec: object = {}, more: Record<string, string> = {}) =>
  session.fetch(applications(team), {
    method: "POST",
    headers: { ...json, ...more },
    body: JSON.stringify(application(name, spec)),
  });

describe("a forwarded request", () => {
  test("creates, changes, scales, and deletes in the name of the user", async () => {
    expect((await create(alice, "web")).status).toBe(201);
    const patch = (path: string, body: object) =>
      alice.fetch(`${applications(team)}/${path}`, {
        method: "PATCH",
        headers: merge,
        body: JSON.stringify(body),
      });
    expect((await patch("web", { spec: { image: "registry.example.com/web:1" } })).status).toBe(200);
    const scaled = await patch("web/scale", { spec: { replicas: 3 } });
    expect([scaled.status, await scaled.json()]).toMatchObject([200, { spec: { replicas: 3 } }]);
    const found = await (await alice.fetch(`${applications(team)}/web`)).json();
    expect(found).toMatchObject({
      spec: { image: "registry.example.com/web:1", replicas: 3 },
      metadata: {
        managedFields: expect.arrayContaining([expect.objectContaining({ manager: "denrei-dashboard" })]),
      },
    });
    expect((await alice.fetch(`${applications(team)}/web`, { method: "DELETE" })).status).toBe(200);
    expect((await alice.fetch(`${applications(team)}/web`)).status).toBe(404);
  });

  test("is forbidden by RBAC as for kubectl", async () => {
    const refused = await create(bob, "bobs");
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { kind: "Status", reason: "Forbidden", message: expect.stringContaining('User "bob" cannot create') },
    ]);
    expect((await alice.fetch(applications(foreign))).status).toBe(403);
  });

  test("returns the API server's message for each field", async () => {
    const answer = await create(alice, "wrong", { domains: ["NOT A HOST"], replicas: -1 });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      {
        kind: "Status",
        reason: "Invalid",
        details: {
          causes: expect.arrayContaining([
            expect.objectContaining({ field: "spec.domains[0]", message: expect.any(String) }),
            expect.objectContaining({ field: "spec.replicas", message: expect.any(String) }),
          ]),
        },
      },
    ]);
  });

  test("has no header of the page that could change the user", async () => {
    const hostile = {
      "Impersonate-User": "admin",
      "Impersonate-Group": "system:masters",
      "Impersonate-Uid": "0",
      "Impersonate-Extra-Scopes": "all",
      "X-Remote-User": "admin",
      "X-Remote-Group": "system:masters",
      Authorization: "Bearer another",
      "X-Forwarded-For": "10.0.0.1",
      Connection: "Authorization",
    };
    const refused = await overTheWire(
      "POST",
      applications(team),
      bob,
      { ...json, ...hostile },
      application("evil"),
    );
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('User \\"bob\\" cannot create');
    const read = await overTheWire("GET", applications(team), bob, hostile);
    expect(read.status).toBe(200);
  });

  test("has only the allowed query parameters", async () => {
    const names = ["chosen", "other"];
    for (const name of names) {
      const body = JSON.stringify({ ...application(name), metadata: { name, labels: { is: name } } });
      await alice.fetch(applications(team), { method: "POST", headers: json, body });
    }
    const found = async (query: string) => {
      const answer = await alice.fetch(
        `${applications(team)}?watch=true&follow=true&timeoutSeconds=600&pretty=true&${query}`,
      );
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { items: Application[] }).items.map(({ metadata }) => metadata.name);
    };
    expect(await found("labelSelector=is%3Dchosen")).toEqual(["chosen"]);
    expect(await found("fieldSelector=metadata.name%3Dother")).toEqual(["other"]);
    expect(await found("limit=1")).toEqual(["chosen"]);
    for (const name of names) await environment.client.delete(Application, { namespace: team, name }, {});
  });
});

interface WireAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request line without the normalization of an HTTP client. */
async function overTheWire(
  method: string,
  target: string,
  session: Visitor,
  headers: Record<string, string> = {},
  body?: object,
): Promise<WireAnswer> {
  const { csrf } = (await session.ask("/api/session")).json<{ csrf: string }>();
  const { hostname, port, host } = new URL(environment.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const sent = body === undefined ? "" : JSON.stringify(body);
  const all: Record<string, string> = {
    Host: host,
    Cookie: cookieHeader(session.cookies),
    "X-Denrei-Csrf": csrf,
    "Content-Length": String(Buffer.byteLength(sent)),
    ...headers,
    Connection: `close${headers.Connection ? `, ${headers.Connection}` : ""}`,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write([`${method} ${target} HTTP/1.1`, ...lines, "", sent].join("\r\n"));
  const answer = await text(socket);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), body: answer };
}

describe("disguised paths", () => {
  const pods = `/api/kubernetes/api/v1/namespaces/${team}/pods`;
  const secrets = `/api/kubernetes/api/v1/namespaces/${team}/secrets`;
  test.each([
    `${pods}/../secrets`,
    `${pods}/../secrets/token`,
    `${pods}/%2e%2e/secrets`,
    `${pods}/.%2E/secrets`,
    `${pods}/..%2fsecrets`,
    `${pods}/%2e%2e%2fsecrets`,
    `${pods}/..;/secrets`,
    `${pods}/..\\secrets`,
    `${pods}/%5c..%5csecrets`,
    `${pods}/x/../../secrets`,
    `${pods}%2f..%2fsecrets`,
    `${pods}%00/../secrets`,
    `${pods}/;/../secrets`,
    `${pods}//../secrets`,
    `/api/kubernetes//api/v1/namespaces/${team}/secrets`,
    `/api/kubernetes/api//v1/namespaces/${team}/secrets`,
    `/api/kubernetes/../kubernetes/api/v1/namespaces/${team}/secrets`,
    `/api/kubernetes/x/..//api/v1/namespaces/${team}/secrets`,
    `/api/kubernetes/api/v1/namespaces/${team}/pods/../../../../../api/v1/namespaces/${team}/secrets`,
    `//api/kubernetes/api/v1/namespaces/${team}/secrets`,
    `${secrets}`,
    `${secrets}/token`,
    `${secrets}/`,
    secrets.replace("secrets", "SECRETS"),
    secrets.replace("secrets", "s%65crets"),
    secrets.replace("secrets", "%73ecrets"),
    `${secrets}%20`,
    `${secrets}#`,
    `${secrets}?limit=1`,
    `/api/kubernetes/api/v1/secrets`,
    `/api/kubernetes/api/v1/watch/namespaces/${team}/secrets`,
    `/api/watch?of=/api/v1/namespaces/${team}/secrets`,
    `/api/watch?of=/api/v1/namespaces/${team}/pods/../secrets`,
    `/api/watch?of=//127.0.0.1/api/v1/namespaces/${team}/secrets`,
    `/api/watch?of=/api/v1/namespaces/${team}/pods%2f..%2fsecrets`,
    `/api/log?namespace=${team}&of=x/../../secrets/token%23/x`,
    `/api/log?namespace=${team}&of=../secrets/token%3f`,
    `/api/log?namespace=${team}&of=..%2f..%2fsecrets%2ftoken/x`,
    `/api/log?namespace=${team}/secrets/token%3f&of=x/x`,
    "https://127.0.0.1/api/kubernetes/api/v1/secrets",
  ])("%s reveals no Secret", async (target) => {
    const absolute = `${environment.url}${target}`;
    for (const requestTarget of target.startsWith("/") ? [target, absolute] : [target]) {
      const { status, body } = await overTheWire("GET", requestTarget, alice);
      // Paths outside the API return the page.
      expect([requestTarget, status >= 400 || body.includes("<!doctype html>")]).toEqual([
        requestTarget,
        true,
      ]);
      expect(body).not.toContain(base64(secret));
      expect(body).not.toContain("SecretList");
    }
  });

  test("the API server never received a user's request for a Secret", async () => {
    const requests = (await auditEvents(environment.platform)).filter(
      ({ user, impersonatedUser }) =>
        Object.keys(people).includes(user.username) || impersonatedUser !== undefined,
    );
    expect(requests.length).toBeGreaterThan(10);
    for (const { objectRef, impersonatedUser } of requests) {
      expect(impersonatedUser).toBeUndefined();
      // A login reads the Kubernetes username.
      expect(["applications", "pods", "selfsubjectreviews"]).toContain(objectRef?.resource);
    }
  });
});

test("a Deployment can be restarted and scaled, but not changed otherwise", async () => {
  const labels = { app: "web" };
  const containers = [{ name: "main", image: "registry.example.com/web:1" }];
  const template = { metadata: { labels }, spec: { containers } };
  const path = `/apis/apps/v1/namespaces/${team}/deployments`;
  await environment.client.request({
    method: "POST",
    path,
    body: { metadata: { name: "web" }, spec: { selector: { matchLabels: labels }, template } },
  });
  const patch = (to: string, body: string) =>
    alice.fetch(`/api/kubernetes${path}/${to}`, { method: "PATCH", headers: merge, body });
  const evil = `"spec":{"template":{"spec":{"containers":[{"name":"main","image":"evil"}]}}}`;
  const restart = `"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T03:04:05Z"}}}}`;
  expect((await patch("web", `{${evil}}`)).status).toBe(403);
  // Of two equal keys, the checked one counts.
  for (const body of [`{${restart}}`, `{${evil},${restart}}`]) {
    const restarted = await patch("web", body);
    expect([restarted.status, await restarted.json()]).toMatchObject([
      200,
      {
        spec: {
          template: {
            metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z" } },
            spec: { containers },
          },
        },
      },
    ]);
  }
  expect((await patch("web", `{${restart},${evil}}`)).status).toBe(403);
  expect((await patch("web/scale", JSON.stringify({ spec: { replicas: 2 } }))).status).toBe(200);
});

test("a Build can be rebuilt, but not changed otherwise", async () => {
  const answer = await alice.fetch(
    `/api/kubernetes/apis/kpack.io/v1alpha2/namespaces/${team}/builds/web-build-1`,
    { method: "PATCH", headers: merge, body: JSON.stringify({ metadata: { labels: { a: "b" } } }) },
  );
  expect([answer.status, await answer.json()]).toMatchObject([
    403,
    { reason: "NotAllowed", message: "Only a change that rebuilds a Build is allowed." },
  ]);
});

describe("limits", () => {
  test("rejects a body that is too large", async () => {
    const answer = await create(alice, "large", { attributes: { a: "a".repeat(3 * 2 ** 20) } });
    expect([answer.status, await answer.json()]).toMatchObject([413, { reason: "TooLarge" }]);
  });

  test("rejects a body of another content type", async () => {
    const answer = await create(alice, "yaml", {}, { "content-type": "application/yaml" });
    expect([answer.status, await answer.json()]).toMatchObject([400, { reason: "NotAllowed" }]);
  });
});
