import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../local/parts/ports.ts";
import { type ChildSpec, ChildStartError } from "../../local/run/child.ts";
import { githubUser } from "./githubuser.ts";
import { githubPart, startPlayedGitHub } from "./playedgithub.ts";
import type { Stage } from "./stage.ts";

const there = {
  url: "http://127.0.0.1:1234",
  appId: 1,
  installationId: 2,
  privateKey: "a key",
  clientId: "an id",
  clientSecret: "a secret",
  login: "octocat",
  userToken: "a token",
  repository: "acme/web",
};

/** Starts a program that does what `run` does with its spec; what it was started with, and what became of it. */
async function started(run: (spec: ChildSpec) => void, dashboardUrl?: string) {
  let spec: ChildSpec | undefined;
  const ends: string[] = [];
  const spawn = async (given: ChildSpec) => {
    spec = given;
    run(given);
    await given.ready?.();
  };
  const hook = { urls: ["http://127.0.0.1:1/github/app", "http://127.0.0.1:2/github/app"], secret: "hush" };
  const played = startPlayedGitHub({ spawn, hook } as unknown as Stage, {
    part: githubPart("npm run demo -- github"),
    program: "github.ts",
    repository: "acme/web",
    tokenSeconds: 12,
    dashboardUrl,
    onEnd: ({ message }) => ends.push(message),
    signal: new AbortController().signal,
  });
  await played.catch(() => undefined);
  return { played, spec, ends };
}

test("it is told where webhooks go, and how they are signed where nobody sees it", async () => {
  const { played, spec } = await started(({ onLine }) => {
    onLine?.("something else");
    onLine?.('{"url":"http://127.0.0.1:1234"}');
    onLine?.(JSON.stringify(there));
  });
  expect(await played).toEqual(there);
  expect(spec?.args.join(" ")).toBe(
    "github.ts --deliver-to http://127.0.0.1:1/github/app,http://127.0.0.1:2/github/app --token-seconds 12 --repository acme/web",
  );
  expect(spec?.env).toMatchObject({ DEMO_WEBHOOK_SECRET: "hush" });
});

test("it is told of a dashboard whose users connect their accounts there", async () => {
  const { spec } = await started(({ onLine }) => onLine?.(JSON.stringify(there)), "http://127.0.0.1:8090");
  expect(spec?.args.join(" ")).toContain(" --dashboard-url http://127.0.0.1:8090");
});

test("as long as it has not said what there is, it is not ready", async () => {
  const { played } = await started(({ onLine }) => onLine?.('{"url":"http://127.0.0.1:1234"}'));
  await expect(played).rejects.toThrow("it has not said what there is");
});

test("its end is told, and nobody starts it again", async () => {
  const { spec, ends } = await started(({ onLine }) => onLine?.(JSON.stringify(there)));
  spec?.onUnexpectedExit?.({ code: null, signal: "SIGKILL" });
  expect(ends).toEqual(["GitHub, played by github.ts, was ended by SIGKILL"]);
});

test("a package that is not installed is told with what to do about it", async () => {
  const line = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'emulate' imported from /app/github.ts";
  const { played } = await started(() => {
    throw new ChildStartError("it exited", [line]);
  });
  await expect(played).rejects.toThrow(
    "expected the package emulate, which github.ts needs. It comes with a checkout and its development dependencies: npm ci && npm run demo -- github",
  );
});

const never = new AbortController().signal;
const wanted = { branch: "demo", title: "Say hello" };

test("a pull request that GitHub refuses is told with its answer", async () => {
  const server = createServer((_, response) => response.writeHead(403).end("not for you"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(githubUser({ ...there, url }, never).openPullRequest(wanted)).rejects.toThrow(
    "expected GET /repos/acme/web/branches/main to succeed, but GitHub answered 403: not for you",
  );
});

test("a GitHub that does not answer is told with why", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await expect(githubUser({ ...there, url }, never).openPullRequest(wanted)).rejects.toThrow(
    `expected GitHub at ${url} to answer GET /repos/acme/web/branches/main, but connect ECONNREFUSED`,
  );
});
