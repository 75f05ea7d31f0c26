/** What a page is told when its requests can not be passed on: there are too many, or the API server is not as it was. */
import type { Response } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OwnScene, people, startOwnScene, team } from "../harness/dashboard.ts";
import type { Visitor } from "../harness/visitor.ts";

const applications = `/api/kubernetes/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;

let scene: OwnScene;
let alice: Visitor;
let bob: Visitor;
beforeAll(async () => {
  scene = await startOwnScene();
  [alice, bob] = [await scene.visitor(people.alice), await scene.visitor(people.bob)];
});
afterAll(() => scene?.stop());

test("of one session so many requests are passed on at once, and of another one as many", async () => {
  const { pid } = scene.kit.platform.apiserver;
  process.kill(pid ?? 0, "SIGSTOP");
  const waiting: Promise<Response>[] = [];
  try {
    const refused: Response[] = [];
    waiting.push(
      ...Array.from({ length: 40 }, async () => {
        const answer = await alice.fetch(applications);
        refused.push(answer);
        return answer;
      }),
    );
    // Those that have no place are answered, while no other one can be.
    await expect.poll(() => refused.length, { timeout: 60_000 }).toBe(8);
    expect(refused[0]?.status).toBe(429);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await refused[0]?.json()).toMatchObject({ reason: "TooMany" });
    const other = bob.fetch(applications);
    waiting.push(other);
  } finally {
    process.kill(pid ?? 0, "SIGCONT");
  }
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  expect(statuses.filter((status) => status === 200)).toHaveLength(33);
  expect((await alice.fetch(applications)).status).toBe(200);
});

describe("when the API server is not as it was", () => {
  test("one that is away is told of, and one that is back answers again", async () => {
    const { apiserver } = scene.kit.platform;
    await apiserver.stop("SIGKILL");
    try {
      const answer = await alice.fetch(applications);
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        { reason: "Unavailable", message: expect.stringContaining("Kubernetes API") },
      ]);
    } finally {
      await apiserver.start();
    }
    await expect.poll(async () => (await alice.fetch(applications)).status, { timeout: 60_000 }).toBe(200);
  });

  test("a token that it does not take is told of as that", async () => {
    const { apiserver } = scene.kit.platform;
    // It begins without the issuer's keys.
    await scene.issuer.stop();
    await apiserver.stop("SIGKILL");
    await apiserver.start();
    const answer = await alice.fetch(applications);
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { reason: "TokenRefused", message: expect.stringContaining("log in again") },
    ]);
  });
});
