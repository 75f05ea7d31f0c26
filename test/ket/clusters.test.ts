/** Which clusters KET accepts, and which it refuses. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { startKet } from "../harness/startket.ts";

await programs(...platformPrograms);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-clusters-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A kubeconfig of a server that does not answer: any request to it fails with another error. */
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

test("refuses a context that is not allowed before it sends a request", async () => {
  const path = await kubeconfig("production");
  await expect(
    startKet({ cluster: "existing", kubeconfig: path, allowContexts: ["kind-ket", "test"] }),
  ).rejects.toThrow(
    `expected a context that tests may write to (allowContexts: kind-ket, test), found "production" (https://127.0.0.1:1) in ${path}. Add it to allowContexts`,
  );
});

test("allows no context without a list, and takes the kubeconfig from KUBECONFIG", async () => {
  vi.stubEnv("KUBECONFIG", await kubeconfig("production"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startKet({ cluster: "existing" })).rejects.toThrow(
    '(allowContexts: none), found "production"',
  );
});

test("distinguishes a kubeconfig without a current context from a missing one", async () => {
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

test("refuses a function for cluster-scoped objects before it sends a request", async () => {
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

test("states what kind needs when Docker is missing", async () => {
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startKet({ cluster: "kind" })).rejects.toThrow(
    'expected Docker for the cluster "kind", but there is no docker in PATH. Start Docker, or use the cluster "local"',
  );
});

test("names an unknown cluster type", async () => {
  await expect(startKet({ cluster: "minikube" as "kind" })).rejects.toThrow('found "minikube"');
});
