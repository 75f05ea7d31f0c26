/** Another private key for an App of the emulated GitHub. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { appJwt, type Claims } from "../../deploy/simulators/github/appjwt.ts";
import { type EmulatedGitHub, startGitHub } from "../../deploy/simulators/github/emulator.ts";

let github: EmulatedGitHub;
beforeAll(async () => {
  github = await startGitHub({ apps: [{}, {}] });
});
afterAll(() => github?.stop());

async function ask(app: { id: number; privateKey: string }, path: string, claims?: Claims): Promise<number> {
  const [method, at] = path.split(" ");
  const headers = { authorization: `Bearer ${appJwt(app, claims)}` };
  return (await fetch(`${github.url}/api/v3${at}`, { method: method ?? "GET", headers })).status;
}

test("an App with another key is known by that one alone", async () => {
  const [app, other] = github.apps as [EmulatedGitHub["apps"][0], EmulatedGitHub["apps"][0]];
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

test("there is none for an App that there is not", () => {
  expect(() => github.rotateKey(7)).toThrow("expected one of the Apps 100001, 100002, found 7");
});
