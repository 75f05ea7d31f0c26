import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { isPassing } from "../process/untilreachable.ts";
import { KubeconfigError, type KubeconfigSource, loadKubeconfig } from "./kubeconfig.ts";

const folder = mkdtempSync(join(tmpdir(), "denrei-kubeconfig-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
function written(text: string): string {
  const path = join(folder, `config-${++count}`);
  writeFileSync(path, text);
  return path;
}

/** One for a server that is never asked. */
const kubeconfig = (user: object): string =>
  written(
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "test", user }],
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      "current-context": "test",
    }),
  );

beforeEach(() => {
  for (const name of ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
    vi.stubEnv(name, undefined);
  return () => void vi.unstubAllEnvs();
});

/** The error of a kubeconfig that cannot be read. Waiting does not help against it. */
async function failure(
  env: Readonly<Record<string, string>>,
  source: KubeconfigSource = {},
): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const error = await loadKubeconfig(source)
    .read("cached")
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KubeconfigError);
  expect(isPassing(error)).toBe(false);
  return (error as Error).message;
}

describe("an unusable kubeconfig says why, for good:", () => {
  test("the file does not exist", async () => {
    const expected = "expected a kubeconfig at /no/such/file, found no file. Set --kubeconfig or KUBECONFIG.";
    expect(await failure({ KUBECONFIG: "/no/such/file" })).toBe(expected);
    expect(await failure({}, { path: "/no/such/file" })).toBe(expected);
  });

  test("the path cannot be read, or is a folder", async () => {
    const path = written("a: [");
    expect(await failure({ KUBECONFIG: path })).toContain(`the kubeconfig ${path} cannot be read`);
    expect(await failure({ KUBECONFIG: folder })).toContain(
      `the kubeconfig ${folder} cannot be read: EISDIR`,
    );
  });

  test("it names no cluster", async () => {
    expect(await failure({ KUBECONFIG: written("{}") })).toContain(
      "expected a kubeconfig with a current context, found none",
    );
  });

  test("it is nowhere", async () => {
    expect(await failure({ HOME: folder })).toContain("found no configuration at all");
  });

  test("the file lacks the wanted context", async () => {
    const source = { path: kubeconfig({ token: "a-secret-token" }), context: "other" };
    expect(await failure({}, source)).toContain('context "other"');
  });

  test.each([
    [{ "as-groups": ["developers"] }, "as-groups without as"],
    [{ "as-uid": "u", "as-user-extra": {} }, "as-uid, as-user-extra without as"],
  ])("it impersonates no user, but has %o", async (fields, expected) => {
    for (const user of [{ token: "t" }, { username: "me", password: "secret" }])
      expect(await failure({ KUBECONFIG: kubeconfig({ ...user, ...fields }) })).toContain(expected);
  });

  test("its groups are not a list", async () => {
    const user = { token: "t", as: "somebody", "as-groups": "developers" };
    expect(await failure({ KUBECONFIG: kubeconfig(user) })).toContain('the user "test" of the kubeconfig');
  });

  test("its credentials plugin is not installed", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-plugin",
      interactiveMode: "Never",
    };
    expect(await failure({ KUBECONFIG: kubeconfig({ exec }) })).toContain(
      'expected the kubeconfig\'s context "test" to be usable, but spawn no-such-plugin ENOENT',
    );
  });
});
