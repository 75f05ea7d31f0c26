/** The API of the simulated GitHub, called with plain fetch. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { appJwt, type Claims } from "../../deploy/simulators/github/appjwt.ts";
import type { FaultAnswer, FaultMatch } from "../../deploy/simulators/github/faults.ts";
import {
  type SimulatedApp,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import { user } from "../../deploy/simulators/github/seed.ts";
import { startTarget } from "./target.ts";

let github: SimulatedGitHub;
let app: SimulatedApp;

beforeAll(async () => {
  github = await startGitHub({ repositories: ["acme/web", "acme/api"] });
  app = github.apps[0]!;
});
afterAll(() => github?.stop());

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function ask(method: string, path: string, authorization?: string, body?: object): Promise<Got> {
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) };
}

const asApp = (claims?: Claims): string => `Bearer ${appJwt(app, claims)}`;

async function newToken(body?: object): Promise<{ token: string; expires_at: string } & Got["body"]> {
  const path = `/app/installations/${app.installations[0]?.id}/access_tokens`;
  const answer = await ask("POST", path, asApp(), body);
  expect(answer.status).toBe(201);
  return answer.body as { token: string; expires_at: string };
}

/** Length and lifetime of tokens in this test. */
function issueTokens(policy: Parameters<SimulatedGitHub["issueTokens"]>[0]): void {
  github.issueTokens(policy);
  onTestFinished(() => github.issueTokens({}));
}

function fault(match: FaultMatch, answer: FaultAnswer, times?: number) {
  const injected = github.fault(match, answer, times);
  onTestFinished(() => injected.remove());
  return injected;
}

const seconds = () => Math.floor(Date.now() / 1000);

describe("an App", () => {
  test("authenticates with its JSON web token", async () => {
    const { status, body } = await ask("GET", "/app", asApp());
    expect({ status, id: body.id, slug: body.slug }).toEqual({ status: 200, id: app.id, slug: "denrei" });
  });

  test.each([
    [
      "signed by another key",
      () => appJwt({ id: app.id + 1, privateKey: app.privateKey }),
      "could not be decoded",
    ],
    ["that has expired", () => appJwt(app, { exp: seconds() - 1 }), "must be a numeric value"],
    ["without an expiry", () => appJwt(app, { exp: undefined }), "must be a numeric value"],
    ["valid for more than ten minutes", () => appJwt(app, { exp: seconds() + 700 }), "too far in the future"],
    ["issued in the future", () => appJwt(app, { iat: seconds() + 60 }), "'Issued at' claim"],
  ])("is rejected with a token %s", async (_, jwt, message) => {
    const { status, body } = await ask("GET", "/app", `Bearer ${jwt()}`);
    expect({ status, body }).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining(message) },
    });
  });

  test("gets a token limited to the requested repositories and permissions", async () => {
    const { id } = await github.api<{ id: number }>("GET", "/repos/acme/web");
    const wanted = { repository_ids: [id], permissions: { contents: "read", metadata: "read" } };
    const answer = await newToken(wanted);
    expect(answer).toMatchObject({
      token: expect.stringMatching(/^ghs_/),
      permissions: wanted.permissions,
      repository_selection: "selected",
      repositories: [{ id, full_name: "acme/web" }],
    });
    expect(Date.parse(answer.expires_at) - Date.now()).toBeGreaterThan(3_590_000);

    const reach = async (method: string, path: string, body?: object) =>
      (await ask(method, `/repos/acme${path}`, `token ${answer.token}`, body)).status;
    expect(await reach("GET", "/web/branches/main")).toBe(200);
    expect(await reach("GET", "/api/branches/main")).toBe(404);
    expect(await reach("GET", "/api")).toBe(404);
    expect(await reach("GET", "/web/pulls")).toBe(403);
    const file = { message: "m", content: "" };
    expect(await reach("PUT", "/web/contents/a", file)).toBe(403);
  });

  test("gets no token with more permissions than granted", async () => {
    const path = `/app/installations/${app.installations[0]?.id}/access_tokens`;
    const { status } = await ask("POST", path, asApp(), { permissions: { administration: "write" } });
    expect(status).toBe(422);
  });
});

describe("a token", () => {
  const read = async (token: string) => (await ask("GET", "/repos/acme/web", `Bearer ${token}`)).status;

  test("expires at its expiry time", async () => {
    // The test advances the clock.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    issueTokens({ lifetimeMillis: 300 });
    const { token, expires_at } = await newToken();
    const ends = Date.parse(expires_at);
    expect(ends - Date.now()).toBe(300);
    vi.setSystemTime(ends - 1);
    expect(await read(token)).toBe(200);
    vi.setSystemTime(ends);
    expect(await read(token)).toBe(401);
  });

  test("can be as long as GitHub's newer ones", async () => {
    issueTokens({ length: 520 });
    const { token } = await newToken();
    expect(token).toMatch(new RegExp(`^ghs_${app.id}_eyJ[\\w.-]+$`));
    expect(token).toHaveLength(520);
    expect(await read(token)).toBe(200);
    expect(await read(token.slice(0, -1))).toBe(401);
  });

  test("stops working when it is revoked", async () => {
    const [one, other] = [await newToken(), await newToken()];
    const revoke = async (authorization: string) =>
      (await ask("DELETE", "/installation/token", authorization)).status;
    expect(await revoke(`Bearer ${one.token}`)).toBe(204);
    expect(await read(one.token)).toBe(401);
    expect(await read(other.token)).toBe(200);
    expect(await revoke(`Bearer ${one.token}`)).toBe(401);
    expect(await revoke(asApp())).toBe(403);
  });

  test("of the user is accepted", async () => {
    expect(await read(user.tokens[0] ?? "")).toBe(200);
  });

  test("that was never issued is rejected", async () => {
    expect(await read("ghs_made_up")).toBe(401);
    expect((await ask("GET", "/repos/acme/web", "Basic eDp5")).status).toBe(401);
    expect((await ask("GET", "/repos/acme/web")).status).toBe(401);
  });
});

describe("requests", () => {
  test("are recorded with their caller, except those of the test itself", async () => {
    const before = github.requests().length;
    await github.api("GET", "/repos/acme/web");
    const { token } = await newToken({ repositories: ["web"] });
    await ask("GET", "/repos/acme/web/pulls?state=open", `Bearer ${token}`);
    const [installation] = app.installations;
    expect(github.requests().slice(before)).toEqual([
      {
        at: expect.any(Number),
        method: "POST",
        path: `/app/installations/${installation?.id}/access_tokens`,
        body: '{"repositories":["web"]}',
        status: 201,
        app: app.id,
        installation: undefined,
      },
      {
        at: expect.any(Number),
        method: "GET",
        path: "/repos/acme/web/pulls?state=open",
        body: "",
        status: 200,
        app: app.id,
        installation: installation?.id,
      },
    ]);
  });

  test("and page links reach the API only below /api/v3", async () => {
    expect((await fetch(`${github.url}/app`, { headers: { authorization: asApp() } })).status).toBe(404);
    await Promise.all([1, 2, 3].map(() => github.openPullRequest({ repository: "acme/api" })));
    const { token } = await newToken();
    const path = "/repos/acme/api/pulls?per_page=2";
    const { headers, body } = await ask("GET", path, `Bearer ${token}`);
    expect(body).toHaveLength(2);
    const next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
    expect(next).toMatch(`${github.url}/api/v3/repos/acme/api/pulls`);
    expect((body as unknown as object[])[0]).toMatchObject({
      url: `${github.url}/api/v3/repos/acme/api/pulls/3`,
      html_url: `${github.url}/acme/api/pull/3`,
    });
    const rest = await fetch(next, { headers: { authorization: `Bearer ${token}` } });
    expect(await rest.json()).toHaveLength(1);
  });

  test("of the test itself throw the error status", async () => {
    await expect(github.api("GET", "/repos/acme/none")).rejects.toThrow(
      /GET \/repos\/acme\/none failed with status 404/,
    );
  });
});

describe("a fault", () => {
  const path = /^\/app$/g;

  test("affects the given number of matching requests, and no others", async () => {
    const headers = { "retry-after": "7" };
    const body = JSON.stringify({ message: "You have exceeded a secondary rate limit" });
    const injected = fault({ method: "GET", path }, { status: 403, headers, body }, 2);
    const answers = [await ask("GET", "/app", asApp()), await ask("GET", "/app", asApp())];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(answers[0]?.headers.get("retry-after")).toBe("7");
    expect(answers[0]?.body.message).toMatch("secondary rate limit");
    expect((await ask("GET", "/app/installations", asApp())).status).toBe(200);
    expect((await ask("GET", "/app", asApp())).status).toBe(200);
    expect(injected.hits).toBe(2);
    expect(github.requests().map(({ status }) => status)).toContain(403);
  });

  test("delays responses until it is removed", async () => {
    const injected = fault({ path }, { delayMillis: 200 });
    const begun = Date.now();
    expect((await ask("GET", "/app", asApp())).status).toBe(200);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(195);
    injected.remove();
    // Longer than the test's timeout.
    fault({ path }, { delayMillis: 600_000 }).remove();
    expect((await ask("GET", "/app", asApp())).status).toBe(200);
  });

  test("resets connections", async () => {
    fault({ path }, "reset", 1);
    await expect(ask("GET", "/app", asApp())).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(github.requests().at(-1)).toMatchObject({ path: "/app", status: undefined });
    expect((await ask("GET", "/app", asApp())).status).toBe(200);
  });
});

test("does not start with two Apps of the same id", async () => {
  await expect(startGitHub({ apps: [{ id: 7 }, { id: 7 }] })).rejects.toThrow(
    /Duplicate GitHub App app_id: 7/,
  );
});

test("stops at once, even with requests in flight", async () => {
  const own = await startGitHub();
  onTestFinished(() => own.stop());
  own.fault({ path: /./ }, { delayMillis: 600_000 });
  const target = await startTarget();
  onTestFinished(() => target.close());
  target.answer("never");
  own.deliverTo([target.url]);
  const waiting = fetch(`${own.url}/api/v3/app`).catch((error: Error) => error);
  const delivering = own.send("delete", {});
  await expect.poll(() => [own.requests().length, target.arrived.length]).toEqual([1, 1]);
  await own.stop();
  expect(await waiting).toBeInstanceOf(Error);
  // It has not waited for the timeout.
  expect(await delivering).toMatchObject({ status: "failed to connect to host" });
  expect(own.deliveries()).toEqual([]);
  await own.stop();
});
