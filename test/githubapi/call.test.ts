import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { type Call, type Caller, githubCalls } from "../../bus/github/call.ts";
import {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "../../bus/github/errors.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { type Reply, type Seen, serving } from "./testserver.ts";

const secret = "ghs_0123456789_not-to-be-seen";
const someone: Caller = {
  name: "App 5",
  limitedAs: "App 5",
  authorization: async () => `Bearer ${secret}`,
};
const answer = z.object({ id: z.int() });
const call = { method: "GET", path: "/app", as: someone, answer } satisfies Call<unknown>;
type Options = Partial<Parameters<typeof githubCalls>[0]>;

async function calling(reply: (seen: Seen) => Reply, options: Options = {}) {
  const server = await serving(reply);
  return { ...server, send: githubCalls({ base: `${server.url}/api/v3`, limits: rateLimits(), ...options }) };
}
/** The error with which a promise rejects. */
const failed = (promise: Promise<unknown>): Promise<Error & { cause?: unknown }> =>
  promise.then(
    () => expect.fail("expected an error, found none"),
    (error: Error) => error,
  );

test("call - sends version, user agent, and credentials", async () => {
  const { send, seen } = await calling(() => ({
    body: { id: 7, more: true },
    headers: { link: "<a>; rel=b" },
  }));
  expect(await send({ ...call, parameters: { per_page: 100 } })).toEqual({
    body: { id: 7 },
    link: "<a>; rel=b",
  });
  await send({
    ...call,
    method: "POST",
    path: "/x",
    parameters: { list: [1] },
    headers: { "x-more": "yes" },
  });
  expect(seen).toMatchObject([
    {
      method: "GET",
      path: "/api/v3/app?per_page=100",
      body: "",
      headers: {
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
        "user-agent": expect.stringMatching(/^denrei/),
        authorization: `Bearer ${secret}`,
      },
    },
    { method: "POST", path: "/api/v3/x", body: '{"list":[1]}', headers: { "x-more": "yes" } },
  ]);
});

test("call - sends nothing when the caller has already aborted", async () => {
  const { send, seen } = await calling(() => ({ body: { id: 7 } }));
  const reason = new Error("enough");
  expect(await failed(send({ ...call, signal: AbortSignal.abort(reason) }))).toBe(reason);
  expect(seen).toEqual([]);
});

/** A server that never responds, and one that stops in the middle of a response. */
const silences: Record<string, (response: import("node:http").ServerResponse) => void> = {
  "no answer": () => undefined,
  "half an answer": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"id":');
  },
};

test.each(Object.entries(silences))("call - %s ends with the caller's abort reason", async (_, silence) => {
  const reasons = [new Error("enough"), new DOMException("stop", "AbortError"), "no error"];
  for (const reason of reasons) {
    const giving = new AbortController();
    const { send } = await calling(() => (response) => {
      silence(response);
      setTimeout(() => giving.abort(reason), 20);
    });
    expect(await failed(send({ ...call, signal: giving.signal }))).toBe(reason);
  }
});

test.each(Object.entries(silences))("call - %s until the deadline is an error", async (_, silence) => {
  const { send } = await calling(() => silence, { deadlineMillis: 60 });
  const error = await failed(send({ ...call, signal: new AbortController().signal }));
  expect(error).toBeInstanceOf(GitHubUnreachableError);
  expect(error.message).toMatch(
    /^no response to GET \/app as App 5 at http:.* within 0\.06 s\. Try again later\.$/,
  );
});

test("call - the deadline is ten seconds", async () => {
  const timeout = vi.spyOn(AbortSignal, "timeout");
  const { send } = await calling(() => ({ body: { id: 7 } }));
  await send(call);
  expect(timeout.mock.calls).toEqual([[10_000]]);
});

test("call - a refused connection and an aborted response are retryable", async () => {
  const { send } = await calling(() => (response) => {
    silences["half an answer"]?.(response);
    setTimeout(() => response.destroy(), 20);
  });
  const unreachable = githubCalls({ base: "http://127.0.0.1:2/api/v3", limits: rateLimits() });
  for (const [sender, found, code] of [
    [send, /\/api\/v3: (other side closed|terminated)\. Check url/, "UND_ERR_SOCKET"],
    [unreachable, /\/api\/v3: .*ECONNREFUSED/, "ECONNREFUSED"],
  ] as const) {
    const error = await failed(sender(call));
    expect(error).toBeInstanceOf(GitHubUnreachableError);
    expect(error).toMatchObject({ status: undefined, cause: { code } });
    expect(error.message).toMatch(/^no response to GET \/app as App 5 at http/);
    expect(error.message).toMatch(found);
  }
});

const misfits: Record<string, { reply: Reply; found: RegExp }> = {
  "a page": {
    reply: { body: "<html>", headers: { "content-type": "text/html" } },
    found: /GitHub's API: body: .*received string/,
  },
  "broken JSON": { reply: { body: '{"id": 7' }, found: /GitHub's API: body: .*received string/ },
  nothing: { reply: { status: 204 }, found: /was answered 204, .*received string/ },
  "other JSON": {
    reply: { body: { id: "7" } },
    found: /GitHub's API: id: .*expected (int|number), received string/,
  },
};

test.each(Object.entries(misfits))(
  "call - reports %s in place of the expected response",
  async (_, { reply, found }) => {
    const { send } = await calling(() => reply);
    const error = await failed(send(call));
    expect([error.constructor, error.name]).toEqual([GitHubError, "GitHubError"]);
    expect(error.message).toMatch(found);
    expect(error.message).toMatch(/Check that url is that of a GitHub\.$/);
  },
);

test("call - reads integers of any length without loss", async () => {
  const { send } = await calling(() => ({ body: '{"id":12345678901234567890}' }));
  expect((await send({ ...call, answer: z.object({ id: z.bigint() }) })).body.id).toBe(12345678901234567890n);
});

test("call - maps each error status to its class", async () => {
  const headers = { "retry-after": "1" };
  for (const [status, type] of [
    [401, GitHubRefusedError],
    [404, GitHubRefusedError],
    [422, GitHubRefusedError],
    [500, GitHubUnreachableError],
    [503, GitHubUnreachableError],
    [403, GitHubRateLimitedError],
    [429, GitHubRateLimitedError],
  ] as const) {
    const { send } = await calling(() => ({ status, headers, body: { message: "No." } }));
    const error = await failed(send(call));
    expect(error, String(status)).toBeInstanceOf(type);
    expect(error).toMatchObject({ status });
    expect(error.message).toMatch(
      new RegExp(`^GET /app as App 5 at http.*/api/v3 was answered ${status}: No\\.`),
    );
  }
});

test("call - does not follow a redirect to another host", async () => {
  const { url: other, seen: elsewhere } = await serving(() => ({ body: { id: 7 } }));
  for (const status of [301, 302, 307, 308]) {
    const { send, seen } = await calling(() => ({ status, headers: { location: `${other}/api/v3/app` } }));
    const error = await failed(send(call));
    expect(error).toBeInstanceOf(GitHubError);
    expect(error.message).toContain("was redirected to another host, to which nothing is sent. Set url");
    expect(seen).toHaveLength(1);
  }
  expect(elsewhere).toEqual([]);
});

test("call - follows a redirect on the same host with the same credentials", async () => {
  const { send, seen } = await calling(({ path }) =>
    path === "/api/v3/app" ? { status: 307, headers: { location: "/api/v3/moved" } } : { body: { id: 7 } },
  );
  expect((await send(call)).body).toEqual({ id: 7 });
  expect(seen).toMatchObject([{}, { path: "/api/v3/moved", headers: { authorization: `Bearer ${secret}` } }]);
});

test("call - stops following endless redirects", async () => {
  const { send, seen } = await calling(() => ({ status: 302, headers: { location: "/api/v3/app" } }));
  expect((await failed(send(call))).message).toContain("too many redirects (4) after GET /app as App 5");
  expect(seen).toHaveLength(4);
});

test("call - rejects a redirect that would change the method of a write", async () => {
  const { send, seen } = await calling(() => ({ status: 302, headers: { location: "/api/v3/other" } }));
  expect((await failed(send({ ...call, method: "POST" }))).message).toContain(
    "was redirected to a request with another method",
  );
  expect(seen).toHaveLength(1);
});

test("call - aborts an endless response", async () => {
  const { send } = await calling(() => (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (response.write(Buffer.alloc(2 ** 20, " ")));
      response.once("drain", more);
    };
    more();
  });
  expect((await failed(send(call))).message).toMatch(/too large: limit \d+ bytes$/);
});

test("call - shows only the status of an error that is not GitHub's", async () => {
  const foreign = "internal-metadata-of-somebody";
  const bodies = [
    { body: foreign, headers: { "content-type": "text/plain" } },
    { body: `<html>${foreign}</html>`, headers: { "content-type": "text/html" } },
    { body: { secret: foreign } },
    { body: [foreign] },
    { body: { message: "No.", other: foreign, errors: [{ field: "a", value: foreign }] } },
    { body: { message: "No.", documentation_url: `https://${foreign}/` } },
  ];
  for (const status of [200, 400, 403, 404, 429, 500])
    for (const reply of bodies) {
      const { send } = await calling(() => ({ status, ...reply }));
      const error = await failed(send(call));
      expect(error.message).toContain(String(status));
      expect(inspect(error), JSON.stringify(reply.body)).not.toContain(foreign);
    }
});

test("call - a rate limit blocks only its own callers until it ends", async () => {
  const clock = { millis: 0 };
  const limits = rateLimits(() => clock.millis);
  const limited: Reply = { status: 403, headers: { "retry-after": "90" }, body: { message: "Slow down." } };
  const replies = [limited];
  const { send, seen, url } = await calling(() => replies.shift() ?? { body: { id: 7 } }, { limits });
  expect(await failed(send(call))).toMatchObject({ retryAfterMillis: 90_000 });
  clock.millis += 30_000;
  for (const path of ["/app", "/app/hook/deliveries"]) {
    const error = await failed(send({ ...call, path }));
    expect(error).toBeInstanceOf(GitHubRateLimitedError);
    expect(error).toMatchObject({ status: 403, retryAfterMillis: 60_000 });
  }
  expect(seen).toHaveLength(1);

  await send({ ...call, as: { ...someone, limitedAs: "App 6" } });
  await githubCalls({ base: `${url}/other/api/v3`, limits })(call);
  expect(seen).toHaveLength(3);

  clock.millis += 60_000;
  await send(call);
  expect(seen).toHaveLength(4);
});

test("call - hides credentials in errors and their causes", async () => {
  const { url: other } = await serving(() => ({ body: {} }));
  const replies: Reply[] = [
    ...Object.values(misfits).map(({ reply }) => reply),
    ...Object.values(silences),
    { status: 401, body: { message: `${secret} is bad` } },
    { status: 502, body: secret },
    { status: 429, body: { message: secret } },
    { body: { [secret]: secret } },
    { status: 302, headers: { location: other } },
    (response) => response.destroy(),
  ];
  for (const reply of replies) {
    const { send } = await calling(() => reply, { deadlineMillis: 100 });
    const error = await failed(send(call));
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("not-to-be-seen");
  }
});
