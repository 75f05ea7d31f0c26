import { createVerify, generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import { type GitHubAppOptions, githubApp, type HookDelivery } from "../../bus/github/app.ts";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError } from "../../bus/github/errors.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { GitHubUrlError } from "../../bus/github/url.ts";
import { type Reply, type Seen, serving } from "./testserver.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = parsePrivateKey(privateKey.export({ type: "pkcs1", format: "pem" }) as string);

async function appAt(reply: (seen: Seen) => Reply, options: Partial<GitHubAppOptions> = {}) {
  const server = await serving(reply);
  return {
    ...server,
    app: githubApp({
      url: server.url,
      allowed: [server.url],
      appId: 4711,
      key,
      limits: rateLimits(),
      ...options,
    }),
  };
}
const bearerOf = (seen: Seen | undefined): string =>
  seen?.headers.authorization?.replace(/^Bearer /, "") ?? "";
const part = (text = ""): Record<string, unknown> => JSON.parse(Buffer.from(text, "base64url").toString());

const long = `ghs_4711_eyJ${"a".repeat(170)}.eyJ${"b".repeat(300)}.${"c-_".repeat(30)}`;
const minted = {
  token: long,
  expires_at: "2026-11-20T19:30:00Z",
  permissions: { contents: "read", metadata: "read" },
  repository_selection: "selected",
  repositories: [{ id: 9, full_name: "octo/site", private: true }],
};

test("app - derives the API URL from the web address", () => {
  const at = (url?: string) =>
    githubApp({ url, allowed: ["https://ghe.example.com/github"], appId: 1, key, limits: rateLimits() }).base;
  expect(at()).toBe("https://api.github.com");
  expect(at("https://ghe.example.com/github/")).toBe("https://ghe.example.com/github/api/v3");
  expect(() => at("ftp://a")).toThrow(GitHubUrlError);
});

test("app - authenticates with a JWT issued a minute ago and valid for less than ten", async () => {
  const { app, seen } = await appAt(() => ({
    body: { id: 4711, slug: "d", name: "D", permissions: {}, events: [] },
  }));
  const now = Math.floor(Date.now() / 1000);
  await app.self();
  const [head, claims, signature = ""] = bearerOf(seen[0]).split(".");
  expect(part(head)).toEqual({ alg: "RS256", typ: "JWT" });
  expect(part(claims)).toEqual({ iat: expect.any(Number), exp: expect.any(Number), iss: "4711" });
  const { iat, exp } = part(claims) as { iat: number; exp: number };
  expect(iat).toBeGreaterThanOrEqual(now - 60);
  expect(iat).toBeLessThan(now - 50);
  expect(exp).toBe(iat + 600);
  const verifier = createVerify("RSA-SHA256").update(`${head}.${claims}`);
  expect(verifier.verify(publicKey, Buffer.from(signature, "base64url"))).toBe(true);
});

test("app - creates a new JWT for each call", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const { app, seen } = await appAt(() => ({ status: 202, body: {} }));
    for (const time of ["2026-11-20T10:00:00Z", "2026-11-20T23:00:00Z", "2026-11-19T00:00:00Z"]) {
      vi.setSystemTime(time);
      await app.redeliver("1");
      const { iat } = part(bearerOf(seen.at(-1)).split(".")[1]);
      expect(iat).toBe(Date.parse(time) / 1000 - 60);
    }
  } finally {
    vi.useRealTimers();
  }
});

test("app - reads its own data", async () => {
  const known = {
    id: 4711,
    slug: "denrei",
    name: "Denrei",
    permissions: { contents: "read" },
    events: ["push"],
  };
  const { app, seen } = await appAt(() => ({ body: { ...known, owner: { login: "octo" } } }));
  expect(await app.self()).toEqual(known);
  expect(seen).toMatchObject([{ method: "GET", path: "/api/v3/app" }]);
});

test("app - does not quote names from another server's response in errors", async () => {
  const permissions = { "denied robot:hunter-2": 1 };
  const { app } = await appAt(() => ({ body: { id: 1, slug: "a", name: "A", permissions, events: [] } }));
  const error = await app.self().catch((thrown: unknown) => thrown as Error);
  expect(error).toBeInstanceOf(GitHubError);
  expect((error as Error).message).toContain("permissions: expected names with text");
  expect((error as Error).message).not.toContain("hunter");
});

test("app - reads installations of a user, an organization, an enterprise, or a deleted account, active or suspended", async () => {
  const one = { id: 7, app_id: 4711, repository_selection: "all", permissions: { contents: "write" } };
  const replies = [
    { ...one, account: { login: "octo", type: "Organization" }, suspended_at: null },
    { ...one, account: { slug: "big" }, suspended_at: "2026-01-02T03:04:05Z" },
    { ...one, account: null },
  ].map((body) => ({ body }));
  const { app, seen } = await appAt(() => replies.shift() ?? { status: 404 });
  const same = { id: 7, appId: 4711, repositorySelection: "all", permissions: { contents: "write" } };
  expect(await app.installation(7)).toEqual({ ...same, account: { login: "octo", type: "Organization" } });
  expect(await app.installation(7)).toEqual({
    ...same,
    account: { login: "big", type: "Enterprise" },
    suspendedAt: new Date("2026-01-02T03:04:05Z"),
  });
  expect(await app.installation(7)).toEqual({ ...same, account: undefined });
  await expect(app.installation(8)).rejects.toThrow(/answered 404: .* check appID and installationID/);
  expect(seen.map(({ path }) => path)).toEqual([7, 7, 7, 8].map((id) => `/api/v3/app/installations/${id}`));
});

test("app - returns a token of more than 520 characters unchanged, with its permissions", async () => {
  const { app, seen } = await appAt(() => ({ status: 201, body: minted }));
  const scope = { repositoryIds: [9], permissions: { contents: "read" } };
  expect(long.length).toBeGreaterThan(520);
  expect(await app.mintToken(7, scope)).toEqual({
    token: long,
    expiresAt: new Date("2026-11-20T19:30:00Z"),
    permissions: { contents: "read", metadata: "read" },
    repositorySelection: "selected",
    repositories: [{ id: 9, fullName: "octo/site" }],
  });
  expect(seen).toMatchObject([{ method: "POST", path: "/api/v3/app/installations/7/access_tokens" }]);
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ repository_ids: [9], permissions: { contents: "read" } });
});

test("app - does not restrict a token by empty lists", async () => {
  const { repositories: _, ...all } = { ...minted, repository_selection: "all" };
  const { app, seen } = await appAt(() => ({ status: 201, body: all }));
  expect(await app.mintToken(7)).not.toHaveProperty("repositories");
  await app.mintToken(7, { repositoryIds: [], repositories: [], permissions: {} });
  await app.mintToken(7, { repositoryIds: [], repositories: ["site"] });
  expect(seen.map(({ body }) => body)).toEqual(["", "", '{"repositories":["site"]}']);
});

test("app - requests a token format only if it is set, and only for tokens", async () => {
  const name = "x-github-stateless-s2s-token";
  for (const statelessTokens of ["enabled", "disabled", undefined] as const) {
    const { app, seen } = await appAt(
      ({ method }) => ({ status: 201, body: method === "POST" ? minted : "" }),
      {
        statelessTokens,
      },
    );
    await app.mintToken(7);
    await app.revokeToken("ghs_x");
    expect(seen.map(({ headers }) => headers[name])).toEqual([statelessTokens, undefined]);
  }
});

test("app - reports a response without a usable token without showing it", async () => {
  for (const wrong of [
    { expires_at: "soon" },
    { expires_at: undefined },
    { token: "" },
    { permissions: { a: 1 } },
  ]) {
    const { app } = await appAt(() => ({ status: 201, body: { ...minted, ...wrong } }));
    const error: GitHubError = await app.mintToken(7).then(
      () => expect.fail("expected an error, found none"),
      (thrown) => thrown,
    );
    expect(error.constructor).toBe(GitHubError);
    expect(error.message).toContain(`GitHub's API: ${Object.keys(wrong)[0]}`);
    expect(error.message).not.toMatch(/ghs_|aaaa/);
  }
});

test("app - revokes a token with the token itself", async () => {
  const { app, seen } = await appAt(() => ({ status: 204 }));
  await app.revokeToken(long);
  expect(seen).toMatchObject([{ method: "DELETE", path: "/api/v3/installation/token" }]);
  expect(bearerOf(seen[0])).toBe(long);
});

test("app - ignores revocation of an invalid token, but no other failure", async () => {
  const replies: Reply[] = [
    { status: 401, body: { message: "Bad credentials" } },
    { status: 403, body: { message: "No." } },
    { status: 502 },
  ];
  const { app, seen } = await appAt(() => replies.shift() ?? { status: 204 });
  await app.revokeToken("ghs_over");
  await expect(app.revokeToken("ghs_x")).rejects.toThrow(GitHubRefusedError);
  await expect(app.revokeToken("ghs_x")).rejects.toThrow(/was answered 502/);
  for (const never of ["", "ghs_a\n", "ghs_ä", "a b"]) await app.revokeToken(never);
  expect(seen).toHaveLength(3);
});

const delivery = (id: string, minute: number) =>
  `{"id":${id},"guid":"g${id}","delivered_at":"2026-11-20T10:${String(minute).padStart(2, "0")}:00.5Z",` +
  `"redelivery":false,"duration":0.2,"status":"OK","status_code":200,"event":"push","action":null,` +
  `"installation_id":7,"repository_id":9,"throttled_at":null}`;
const pages: Record<string, string[]> = {
  "": [delivery("9007199254740995", 50), delivery("9007199254740993", 40)],
  "v1_2+/=": [delivery("30", 30), delivery("20", 20), delivery("10", 10)],
  v1_3: [delivery("5", 5)],
};
const hook = ({ path }: Seen): Reply => {
  const { searchParams } = new URL(path, "http://a");
  const cursors = Object.keys(pages);
  const cursor = searchParams.get("cursor") ?? "";
  const next = cursors[cursors.indexOf(cursor) + 1];
  const link = `<http://elsewhere.example/x?cursor=${encodeURIComponent(next ?? "")}&per_page=100>; rel="next"`;
  const first = '<http://elsewhere.example/x>; rel="first"';
  return {
    body: `[${pages[cursor]}]`,
    headers: next === undefined ? { link: first } : { link: `${first}, ${link}` },
  };
};
async function listed(deliveries: AsyncIterable<HookDelivery>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of deliveries) ids.push(id);
  return ids;
}

test("app - lists deliveries page by page, and stops at pages that are too old", async () => {
  const { app, seen } = await appAt(hook);
  expect(await listed(app.deliveries({ since: new Date("2026-11-20T10:20:00.500Z") }))).toEqual([
    "9007199254740995",
    "9007199254740993",
    "30",
    "20",
  ]);
  expect(seen.map(({ path }) => path)).toEqual([
    "/api/v3/app/hook/deliveries?per_page=100",
    "/api/v3/app/hook/deliveries?per_page=100&cursor=v1_2%2B%2F%3D",
  ]);
});

test("app - stops listing deliveries at the last page", async () => {
  const { app, seen } = await appAt(hook);
  expect(await listed(app.deliveries({ since: new Date(0) }))).toHaveLength(6);
  expect(seen).toHaveLength(3);
});

test("app - reads a complete delivery, and omits missing fields", async () => {
  const { app } = await appAt(hook);
  const { value } = await app.deliveries({ since: new Date(0) }).next();
  const common = {
    id: "9007199254740995",
    guid: "g9007199254740995",
    deliveredAt: new Date("2026-11-20T10:50:00.500Z"),
    redelivery: false,
    event: "push",
  };
  expect(value).toEqual({ ...common, status: "OK", statusCode: 200, installationId: 7, repositoryId: 9 });

  const [raw = ""] = pages[""] ?? [];
  const failed = {
    status: "failed to connect to host",
    status_code: null,
    action: "opened",
    installation_id: null,
    repository_id: undefined,
  };
  const body = `[${raw.replace(/}$/, `,${JSON.stringify(failed).slice(1)}`).replace('"repository_id":9,', "")}]`;
  const { app: other } = await appAt(() => ({ body }));
  expect((await other.deliveries({ since: new Date(0) }).next()).value).toEqual({
    ...common,
    status: "failed to connect to host",
    statusCode: 0,
    action: "opened",
  });
});

test("app - stops listing deliveries when the caller aborts", async () => {
  const { app, seen } = await appAt(hook);
  const giving = new AbortController();
  const reason = new Error("enough");
  const deliveries = app.deliveries({ since: new Date(0), signal: giving.signal });
  await deliveries.next();
  await deliveries.next();
  giving.abort(reason);
  await expect(deliveries.next()).rejects.toBe(reason);
  expect(seen).toHaveLength(1);
});

test("app - redelivers by id, however long", async () => {
  const { app, seen } = await appAt(() => ({ status: 202, body: {} }));
  await app.redeliver("12345678901234567890");
  expect(seen).toMatchObject([
    { method: "POST", path: "/api/v3/app/hook/deliveries/12345678901234567890/attempts", body: "" },
  ]);
});

test("app - shares a rate limit between clients of one App, but not with tokens or other Apps", async () => {
  const limits = rateLimits();
  const replies: Reply[] = [{ status: 429, headers: { "retry-after": "60" } }];
  const { app, seen, url } = await appAt(() => replies.shift() ?? { status: 202, body: "" }, { limits });
  await expect(app.redeliver("1")).rejects.toThrow(GitHubRateLimitedError);
  const again = githubApp({ url: `${url}/`, allowed: [url], appId: 4711, key, limits });
  await expect(again.mintToken(7)).rejects.toThrow(/nothing was sent/);
  expect(seen).toHaveLength(1);
  await githubApp({ url, allowed: [url], appId: 4712, key, limits }).redeliver("1");
  await app.revokeToken("ghs_x");
  expect(seen).toHaveLength(3);

  replies.push({ status: 403, headers: { "retry-after": "60" } });
  await expect(app.revokeToken("ghs_x")).rejects.toThrow(GitHubRateLimitedError);
  await expect(app.revokeToken("ghs_x")).rejects.toThrow(/nothing was sent/);
  await app.revokeToken("ghs_y");
  expect(seen).toHaveLength(5);
});

test("app - ends each call when its caller aborts", async () => {
  const { app } = await appAt(() => () => undefined);
  const reason = new Error("enough");
  const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => app.self(signal),
    (signal) => app.installation(7, signal),
    (signal) => app.mintToken(7, {}, signal),
    (signal) => app.revokeToken("ghs_x", signal),
    (signal) => app.deliveries({ since: new Date(0), signal }).next(),
    (signal) => app.redeliver("1", signal),
  ];
  for (const one of calls) {
    const giving = new AbortController();
    setTimeout(() => giving.abort(reason), 20);
    await expect(one(giving.signal)).rejects.toBe(reason);
  }
});
