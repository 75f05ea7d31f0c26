import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../local/parts/ports.ts";
import { githubUser } from "./githubuser.ts";

const github = { userToken: "a token", repository: "acme/web" };
const never = new AbortController().signal;
const pullRequest = { branch: "demo", title: "Say hello" };

test("reports the answer when GitHub rejects a pull request", async () => {
  const server = createServer((_, response) => response.writeHead(403).end("not for you"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(githubUser({ ...github, url }, never).openPullRequest(pullRequest)).rejects.toThrow(
    "GET /repos/acme/web/branches/main failed: GitHub answered 403: not for you",
  );
});

test("reports why GitHub cannot be reached", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await expect(githubUser({ ...github, url }, never).openPullRequest(pullRequest)).rejects.toThrow(
    `GitHub at ${url} did not answer GET /repos/acme/web/branches/main: connect ECONNREFUSED`,
  );
});
