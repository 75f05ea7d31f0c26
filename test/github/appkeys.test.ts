/** Key rotation of an App in the simulated GitHub. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { appJwt, type Claims } from "../../deploy/simulators/github/appjwt.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";

let github: SimulatedGitHub;
beforeAll(async () => {
  github = await startGitHub({ apps: [{}, {}] });
});
afterAll(() => github?.stop());

async function ask(app: { id: number; privateKey: string }, path: string, claims?: Claims): Promise<number> {
  const [method, at] = path.split(" ");
  const headers = { authorization: `Bearer ${appJwt(app, claims)}` };
  return (await fetch(`${github.url}/api/v3${at}`, { method: method ?? "GET", headers })).status;
}

test("authenticates a rotated App by its new key only", async () => {
  const [app, other] = github.apps as [SimulatedGitHub["apps"][0], SimulatedGitHub["apps"][0]];
  const minting = `POST /app/installations/${app.installations[0]?.id}/access_tokens`;
  expect(await ask(app, minting)).toBe(201);
  const again = { id: app.id, privateKey: github.rotateKey(app.id) };
  for (const path of ["GET /app", "GET /app/hook/deliveries", minting]) {
    expect(await ask(app, path), path).toBe(401);
    expect(await ask(again, path), path).toBe(path === minting ? 201 : 200);
  }
  expect(await ask(again, "GET /app", { exp: 1 })).toBe(401);
  expect(await ask(other, "GET /app")).toBe(200);
  expect(github.tokens()).toHaveLength(2);
});

test("rejects a key rotation of an unknown App", () => {
  expect(() => github.rotateKey(7)).toThrow("no App with id 7: the Apps are 100001, 100002");
});
