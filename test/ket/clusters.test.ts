/** Which clusters are used, and which are not. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { startKet } from "./index.ts";

await programs(...platformPrograms);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-clusters-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A kubeconfig of a server where nobody answers: whoever asks it anything fails otherwise. */
async function kubeconfig(context: string | undefined): Promise<string> {
  const path = join(folder, `${context}.yaml`);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "theirs", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "somebody", user: { exec: { apiVersion: "v1", command: "/nowhere/plugin" } } }],
    contexts: [{ name: context ?? "none", context: { cluster: "theirs", user: "somebody" } }],
    ...(context && { "current-context": context }),
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

test("a context that is not allowed is refused before anybody is asked", async () => {
  const path = await kubeconfig("production");
  await expect(
    startKet({ cluster: "existing", kubeconfig: path, allowContexts: ["kind-ket", "test"] }),
  ).rejects.toThrow(
    `expected a context that tests may write to (allowContexts: kind-ket, test), found "production" (https://127.0.0.1:1) in ${path}. Add it to allowContexts`,
  );
});

test("without a list no context is allowed, and KUBECONFIG says which is meant", async () => {
  vi.stubEnv("KUBECONFIG", await kubeconfig("production"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startKet({ cluster: "existing" })).rejects.toThrow(
    '(allowContexts: none), found "production"',
  );
});

test("a kubeconfig without a current context, and none at all, are told apart", async () => {
  vi.stubEnv("KUBECONFIG", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startKet({ cluster: "existing" })).rejects.toThrow(
    "expected KUBECONFIG, or the option kubeconfig",
  );
  const path = await kubeconfig(undefined);
  await expect(startKet({ cluster: "existing", kubeconfig: path, allowContexts: ["none"] })).rejects.toThrow(
    `expected a current context in ${path}`,
  );
});

test("a function that would reconcile what is everybody's is refused before anybody is asked", async () => {
  const path = await kubeconfig("test");
  await expect(
    startKet({
      cluster: "existing",
      kubeconfig: path,
      allowContexts: ["test"],
      functions: ["clustergithubapp", "githubapp"],
    }),
  ).rejects.toThrow(
    "expected functions whose objects are in namespaces, as others use the cluster as well, found clustergithubapp " +
      "(for ClusterGitHubApp.ghapp.tsuzu.dev), which would reconcile every such object there. " +
      'Use the cluster "local", or set allowClusterScoped if all of them are yours.',
  );
});

test("kind says what it needs where there is no Docker", async () => {
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startKet({ cluster: "kind" })).rejects.toThrow(
    'expected Docker for the cluster "kind", but there is no docker in PATH. Start Docker, or use the cluster "local"',
  );
});

test("a cluster that there is not is named", async () => {
  await expect(startKet({ cluster: "minikube" as "kind" })).rejects.toThrow('found "minikube"');
});
