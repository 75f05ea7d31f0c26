/** GitHub Apps and Installations on a real control plane: replicas, the emulated GitHub, and helpers for users' objects. */
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import {
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import { functions } from "../../functions/index.ts";
import { type Accounts, openAccounts } from "./accounts.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "./environment.ts";
import { type GitHubAppObjects, gitHubAppObjects } from "./ghappobjects.ts";
import { createNamespace, optIn } from "./namespaces.ts";
import { openTestObjects, type TestObjects } from "./testobjects.ts";
import { startWorkers, type WorkerCount } from "./workers.ts";

export { pemKey } from "./ghappobjects.ts";

/** The namespace that workers take for the platform's own. */
export const platformNamespace = "denrei";

const names = ["githubapp", "clustergithubapp", "installation"];
const ours = functions.filter(({ name }) => names.includes(name));

/** The parts to start. */
export interface GhAppsOptions extends GitHubOptions {
  /** Two by default. */
  readonly workers?: WorkerCount;
  /** Additional environment of the bridge and the workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment, with helpers that write and read the functions' objects. The namespace defaults to `default`. */
export interface GhApps extends Omit<TestObjects, "close">, GitHubAppObjects {
  readonly environment: TestEnvironment;
  readonly github: SimulatedGitHub;
  readonly workers: readonly Replica[];
  readonly bridge: Replica;
  readonly accounts: Accounts;
  /** Creates an opted-in namespace with more labels. */
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts everything. The namespaces `default` and {@link platformNamespace} are opted in. */
export async function startGhApps({
  workers: count = 2,
  env = {},
  ...options
}: GhAppsOptions = {}): Promise<GhApps> {
  const [environment, github] = await Promise.all([
    startTestEnvironment(),
    startGitHub({ repositories: ["acme/web", "acme/api"], ...options }),
  ]);
  const { client } = environment;
  const workers: Replica[] = [];
  const objects = await openTestObjects(environment, ours, workers);
  const ghAppObjects = gitHubAppObjects(client, objects, github);

  await createNamespace(client, platformNamespace);
  const accounts = await openAccounts(environment, ours, platformNamespace);
  // The roles brought its rights.
  await optIn(client, platformNamespace);
  await accounts.optIn("default");
  const bridge = await environment.bridge("bridge-1", {
    program: "functions",
    args: names,
    env: { ...(await accounts.env("bridge")), ...env },
  });
  const started = await startWorkers(environment, accounts, {
    functions: names,
    count,
    env: { CONTROLLER_NAMESPACE: platformNamespace, [allowedUrlsVariable]: github.url, ...env },
  });
  workers.push(...started);

  return {
    ...objects,
    ...ghAppObjects,
    environment,
    github,
    workers,
    bridge,
    accounts,
    async namespace(name, labels = {}) {
      await objects.create(Namespace, { metadata: { name, labels } });
      await accounts.optIn(name);
    },
    async stop() {
      await objects.close();
      try {
        await accounts.assertEnough();
      } finally {
        await environment.stop();
        await github.stop();
      }
    },
  };
}
