/** Webhooks of the simulated GitHub: delivery, signature, records, and redelivery. */
import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { appJwt } from "../../deploy/simulators/github/appjwt.ts";
import type { Delivery } from "../../deploy/simulators/github/deliveries.ts";
import {
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import { examplePayload } from "./payloads.ts";
import { type Arrived, startTarget, type Target } from "./target.ts";

let github: SimulatedGitHub;
let target: Target;

async function start(options?: GitHubOptions): Promise<void> {
  const own = await startGitHub(options);
  onTestFinished(() => own.stop());
  github = own;
  github.deliverTo([target.url]);
}

beforeEach(async () => {
  target = await startTarget();
});
afterEach(() => target.close());

/** Resolves to the deliveries of an event once there are that many. */
const delivered = (event: string, count = 1): Promise<Delivery[]> =>
  vi.waitFor(
    () => {
      const found = github.deliveries().filter((delivery) => delivery.event === event);
      expect(found).toHaveLength(count);
      return found;
    },
    { timeout: 20_000, interval: 5 },
  );

const signature = (body: string, secret = github.apps[0]?.webhookSecret ?? ""): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

const ofEvent = (event: string, { arrived }: Target): Arrived[] =>
  arrived.filter(({ headers }) => headers["x-github-event"] === event);

async function ask(method: string, path: string, app = github.apps[0]!): Promise<Response> {
  const headers = { authorization: `Bearer ${appJwt(app)}` };
  return fetch(path.startsWith("http") ? path : `${github.url}/api/v3${path}`, { method, headers });
}

const listed = async (query = ""): Promise<Delivery[]> =>
  (await ask("GET", `/app/hook/deliveries${query}`)).json() as Promise<Delivery[]>;

describe("a webhook", () => {
  test("has GitHub's headers and payload for a pull request", async () => {
    await start();
    const { number, headSha } = await github.openPullRequest({ repository: "acme/web", title: "A change" });
    const [delivery] = await delivered("pull_request");
    const [{ headers, body } = { headers: {}, body: "" }] = ofEvent("pull_request", target);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^GitHub-Hookshot\//),
      "x-github-delivery": delivery?.guid,
      "x-github-event": "pull_request",
      "x-github-hook-id": expect.stringMatching(/^\d+$/),
      "x-github-hook-installation-target-id": String(github.apps[0]?.id),
      "x-github-hook-installation-target-type": "integration",
      "x-hub-signature-256": signature(body),
    });
    expect(delivery?.guid).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(body)).toMatchObject({
      action: "opened",
      number,
      pull_request: { number, title: "A change", state: "open", head: { sha: headSha, ref: "change-1" } },
      repository: { full_name: "acme/web", url: `${github.url}/api/v3/repos/acme/web` },
      installation: { id: github.apps[0]?.installations[0]?.id },
      sender: { login: "octocat" },
    });
  });

  test("describes the pushed commits", async () => {
    await start();
    const { before, after } = await github.push({ repository: "acme/web", branch: "main" });
    await delivered("push");
    const [{ headers, body } = { headers: {}, body: "" }] = ofEvent("push", target);
    expect(headers["x-hub-signature-256"]).toBe(signature(body));
    expect(JSON.parse(body)).toMatchObject({
      ref: "refs/heads/main",
      before,
      after,
      created: false,
      deleted: false,
      forced: false,
      head_commit: { id: after },
      commits: [{ id: after }],
      repository: { url: `${github.url}/acme/web`, full_name: "acme/web" },
    });
  });

  test("is sent when a pull request is synchronized or closed", async () => {
    await start();
    const { number, headSha } = await github.openPullRequest({ repository: "acme/web", branch: "feature" });
    const { before, after } = await github.push({ repository: "acme/web", branch: "feature" });
    expect(before).toBe(headSha);
    await github.closePullRequest({ repository: "acme/web", number });
    await delivered("pull_request", 3);
    const payloads = ofEvent("pull_request", target).map(({ headers, body }) => {
      expect(headers["x-hub-signature-256"]).toBe(signature(body));
      return JSON.parse(body);
    });
    const of = (action: string) => payloads.find((payload) => payload.action === action);
    expect(of("opened").pull_request.head.sha).toBe(before);
    expect(of("synchronize")).toMatchObject({
      number,
      before,
      after,
      pull_request: { head: { sha: after } },
    });
    expect(of("closed")).toMatchObject({ number, pull_request: { state: "closed", head: { sha: after } } });
    const pull = await github.api<{ head: { sha: string } }>("GET", `/repos/acme/web/pulls/${number}`);
    expect(pull.head.sha).toBe(after);
  });

  test("goes to each target in turn, and only to Apps installed on the repository", async () => {
    const installations = [{ account: "acme", repositories: ["acme/web"] }];
    await start({ repositories: ["acme/web", "acme/api"], apps: [{ installations, events: ["push"] }] });
    const other = await startTarget();
    onTestFinished(() => other.close());
    github.deliverTo([target.url, other.url]);
    await github.push({ repository: "acme/api", branch: "main" });
    for (let count = 0; count < 4; count++) await github.push({ repository: "acme/web", branch: "main" });
    await delivered("push", 4);
    expect([target.arrived.length, other.arrived.length]).toEqual([2, 2]);
    expect(github.deliveries()).toHaveLength(4);
  });

  test("can be sent by a test where emulate sends none", async () => {
    await start();
    const repository = await github.api<{ id: number; full_name: string }>("GET", "/repos/acme/web");
    const installation = github.apps[0]?.installations[0]?.id ?? 0;
    for (const event of ["delete", "check_run", "issue_comment", "installation_repositories"] as const) {
      const payload = examplePayload(event, { repository, installation });
      const delivery = await github.send(event, payload);
      expect(delivery).toMatchObject({ event, status: "OK", installation_id: installation });
      const { headers, body } = target.arrived.at(-1)!;
      expect(headers["x-hub-signature-256"]).toBe(signature(body));
      expect(JSON.parse(body)).toEqual(payload);
    }
    expect(JSON.parse(ofEvent("delete", target)[0]?.body ?? "").repository).toMatchObject({
      ...{ id: repository.id, name: "web", full_name: "acme/web", owner: { login: "acme" } },
      url: expect.stringContaining("/repos/acme/web"),
    });
    expect(examplePayload("installation", { action: "suspend" }).action).toBe("suspend");
    expect(() => examplePayload("push", { action: "none" })).toThrow(/no example of push/);
    await expect(github.send("push", {}, 1)).rejects.toThrow(/no App with id 1: the Apps are 100001/);
  });
});

describe("the list of deliveries", () => {
  const payload = { action: "created", repository: { id: 7 } };

  test("has the outcome of each delivery, newest first, and failures are reported", async () => {
    const failures: string[] = [];
    await start({ onFailedDelivery: ({ status }, error) => failures.push(`${status}: ${error?.message}`) });
    await github.send("issue_comment", payload);
    target.answer(500);
    await github.send("issue_comment", payload);
    target.answer(302);
    await github.send("issue_comment", payload);
    target.answer("never");
    // Only this delivery gets a short timeout.
    const deadline = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(deadline.signal);
    const late = github.send("issue_comment", payload);
    await vi.waitFor(() => expect(target.arrived).toHaveLength(4), { timeout: 20_000, interval: 5 });
    expect(timeout.mock.calls).toEqual([[10_000]]);
    timeout.mockRestore();
    deadline.abort();
    await late;
    await target.close();
    await github.send("issue_comment", payload);
    target = await startTarget();
    github.deliverTo([]);
    await github.send("issue_comment", payload);
    const list = await listed();
    expect(failures).toEqual([
      "Invalid HTTP Response: 500: undefined",
      "Invalid HTTP Response: 302: undefined",
      expect.stringMatching(/^timed out: .*aborted/),
      expect.stringMatching(/^failed to connect to host: .*ECONNREFUSED/),
      expect.stringMatching(/^failed to connect to host: .*url/),
    ]);
    expect(list.map(({ status, status_code }) => [status, status_code])).toEqual([
      ["failed to connect to host", 502],
      ["failed to connect to host", 502],
      ["timed out", 504],
      ["Invalid HTTP Response: 302", 302],
      ["Invalid HTTP Response: 500", 500],
      ["OK", 200],
    ]);
    expect(list[5]).toEqual({
      id: expect.any(Number),
      guid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      delivered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      redelivery: false,
      duration: expect.any(Number),
      status: "OK",
      status_code: 200,
      event: "issue_comment",
      action: "created",
      installation_id: github.apps[0]?.installations[0]?.id,
      repository_id: 7,
      throttled_at: null,
    });
    expect(await listed("?status=success")).toHaveLength(1);
    expect(await listed("?status=failure")).toHaveLength(5);
  });

  test("returns a single delivery with request and response", async () => {
    await start();
    const { id, guid } = await github.send("issue_comment", payload);
    const one = await (await ask("GET", `/app/hook/deliveries/${id}`)).json();
    expect(one).toMatchObject({
      ...{ id, guid, url: target.url },
      request: { headers: { "X-GitHub-Delivery": guid, "X-GitHub-Event": "issue_comment" }, payload },
      response: { payload: "seen" },
    });
    expect((await ask("GET", "/app/hook/deliveries/1")).status).toBe(404);
  });

  test("contains only the App's own deliveries", async () => {
    await start({ apps: [{}, {}] });
    const [first, second] = github.apps;
    const { id } = await github.send("issue_comment", payload, second?.id);
    expect(await listed()).toEqual([]);
    expect(target.arrived[0]?.headers["x-hub-signature-256"]).toBe(
      signature(target.arrived[0]?.body ?? "", second?.webhookSecret),
    );
    expect((await ask("GET", `/app/hook/deliveries/${id}`, first)).status).toBe(404);
    expect((await ask("GET", `/app/hook/deliveries/${id}`, second)).status).toBe(200);
    expect((await fetch(`${github.url}/api/v3/app/hook/deliveries`)).status).toBe(401);
  });

  test("has pages that new deliveries do not shift", async () => {
    await start();
    for (let count = 0; count < 205; count++) await github.send("issue_comment", { ...payload, count });
    const pages: Delivery[][] = [];
    let next: string | undefined = "/app/hook/deliveries?per_page=500";
    while (next !== undefined) {
      const answer = await ask("GET", next);
      pages.push((await answer.json()) as Delivery[]);
      const link: string = answer.headers.get("link") ?? "";
      expect(link.includes('rel="prev"')).toBe(pages.length > 1);
      next = /<([^>]+)>; rel="next"/.exec(link)?.[1];
      if (pages.length === 1) await github.send("issue_comment", payload);
    }
    expect(pages.map((page) => page.length)).toEqual([100, 100, 5]);
    const ids = pages.flat().map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect(await listed()).toHaveLength(30);
    expect((await ask("GET", "/app/hook/deliveries?cursor=2")).status).toBe(422);
  });

  test("redelivers the same bytes with the same id", async () => {
    await start();
    target.answer(503);
    await github.push({ repository: "acme/web", branch: "main" });
    const [failed] = await delivered("push");
    expect(failed?.status).toBe("Invalid HTTP Response: 503");
    target.answer(202);
    const asked = await ask("POST", `/app/hook/deliveries/${failed?.id}/attempts`);
    expect([asked.status, await asked.json()]).toEqual([202, {}]);
    await delivered("push", 2);
    const [redelivery, first] = await listed();
    expect(first).toMatchObject({ id: failed?.id, redelivery: false, status_code: 503 });
    expect(redelivery).toMatchObject({
      guid: failed?.guid,
      redelivery: true,
      status: "OK",
      status_code: 202,
    });
    expect(redelivery?.id).toBeGreaterThan(first?.id ?? 0);
    const [one, two] = ofEvent("push", target);
    expect(two?.body).toBe(one?.body);
    for (const name of ["x-github-delivery", "x-github-event", "x-hub-signature-256"])
      expect(two?.headers[name]).toBe(one?.headers[name]);
  });
});
