/** GitHub Apps and Installations on a real control plane: three replicas, the emulated GitHub, and what somebody writes. */
import type { MsgHdrs } from "@nats-io/transport-node";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { optInLabel } from "../../bus/domain.ts";
import type { ObjectName } from "../../bus/kube/client.ts";
import { apiVersionOf, externalKind, type Kind, Namespace } from "../../bus/kube/kind.ts";
import type { Condition, KubeObject, Stored } from "../../bus/kube/object.ts";
import { streams } from "../../bus/subjects.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import { functions } from "../../functions/index.ts";
import { type EmulatedGitHub, type GitHubOptions, startGitHub } from "../github/emulator.ts";
import type { ApiRequest } from "../github/front.ts";
import { type Kit, type Replica, startKit } from "./kit.ts";
import { metricSum } from "./metrics.ts";
import { optIn } from "./namespaces.ts";
import { untilQuiet } from "./quiet.ts";

/** Where the platform is, as far as its workers know. */
export const platformNamespace = "denrei";
/** The name that private keys have in their Secrets. */
export const pemKey = "private-key.pem";

const manager = { fieldManager: "test" };
const names = ["githubapp", "clustergithubapp", "installation"];
const ours = functions.filter(({ name }) => names.includes(name));

interface EventObject extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** What is recorded about objects. */
export const Event = externalKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});

/** An object whose condition has the status, and the reason if it is given. */
export const has =
  (type: string, status: Condition["status"], reason?: string) =>
  (object: KubeObject): boolean => {
    const found = conditionOf(object, type);
    return found?.status === status && (reason === undefined || found.reason === reason);
  };

/** A condition of an object. */
export const conditionOf = (object: KubeObject | undefined, type = "Ready"): Condition | undefined =>
  (object as KubeObject<unknown, { conditions?: Condition[] }> | undefined)?.status?.conditions?.find(
    (condition) => condition.type === type,
  );

/** Values of a Secret as text. */
export const texts = (secret: SecretObject | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );

/** What is in an object beside its kind. */
type NewObject = Pick<KubeObject, "metadata"> & Readonly<Record<string, unknown>>;

/** An event of an object, as it is stored. */
interface Change {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

/** All that runs, and ways to write and read what the functions are about. The namespace is `default` unless given. */
export interface GhApps {
  readonly kit: Kit;
  readonly github: EmulatedGitHub;
  /** As the administrator. */
  readonly bus: Bus;
  readonly workers: readonly Replica[];
  readonly bridge: Replica;
  /** An opted-in namespace with more labels. */
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** A Secret with a private key: that of the first App unless given. */
  keySecret(namespace: string, name?: string, pem?: string): Promise<void>;
  app(name: string, spec?: Partial<GitHubApp["spec"]>, namespace?: string): Promise<void>;
  clusterApp(name: string, spec?: Partial<ClusterGitHubApp["spec"]>): Promise<void>;
  /** Of the first App's first installation, by the GitHubApp `app`, with the token under `token`; unless given. */
  installation(
    name: string,
    spec?: Partial<Installation["spec"]>,
    namespace?: string,
  ): Promise<Stored<Installation>>;
  secret(name: string, namespace?: string): Promise<Stored<SecretObject> | undefined>;
  /** The token under `token` of a Secret; undefined when there is none. */
  token(name: string, namespace?: string): Promise<string | undefined>;
  create<T extends KubeObject>(kind: Kind<T>, object: NewObject): Promise<Stored<T>>;
  patch<T extends KubeObject>(kind: Kind<T>, name: string | ObjectName, patch: object): Promise<Stored<T>>;
  /** Wakes its function. */
  touch(kind: Kind, name: string | ObjectName): Promise<void>;
  /** Reasons and notes of the Events about an object of this name. */
  events(name: string, namespace?: string): Promise<Pick<EventObject, "type" | "reason" | "note">[]>;
  /** Requests for tokens, of one installation if it is given. */
  mints(installationID?: number): readonly ApiRequest[];
  /** The status of an answer to whoever has the token: `GET /repos/acme/web`. */
  use(token: string | undefined, request: string, body?: object): Promise<number>;
  /** Resolves when there is nothing to do any more, but for what waits for its time. */
  untilQuiet(): Promise<void>;
  /** The newest event of each object, or of some. */
  changes(subjects?: string): Promise<readonly Change[]>;
  /** Publishes events as if they came again. */
  replay(changes: readonly Change[]): Promise<void>;
  /** Writes of all workers since they were started. */
  writes(): Promise<number>;
  stop(): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const at = (name: string | ObjectName): ObjectName =>
  typeof name === "string" ? { name, namespace: "default" } : name;

/** Starts all of it. The namespaces `default` and {@link platformNamespace} are opted in. */
export async function startGhApps(options: GitHubOptions = {}): Promise<GhApps> {
  const [kit, github] = await Promise.all([
    startKit(),
    startGitHub({ repositories: ["acme/web", "acme/api"], ...options }),
  ]);
  const { client } = kit;
  const [first] = github.apps;
  if (first === undefined) throw new Error("expected an App on the emulated GitHub");

  const create = <T extends KubeObject>(kind: Kind<T>, object: NewObject): Promise<Stored<T>> =>
    client.create(
      kind,
      { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as unknown as T,
      manager,
    );
  const patch: GhApps["patch"] = (kind, name, changes) => client.mergePatch(kind, at(name), changes, manager);

  const appSpec = (spec: Partial<GitHubApp["spec"]>): GitHubApp["spec"] => ({
    url: github.url,
    appID: first.id,
    privateKeySecretRef: { name: "gh-app-key", key: pemKey },
    ...spec,
  });

  async function secret(name: string, namespace = "default"): Promise<Stored<SecretObject> | undefined> {
    const query = { fieldSelector: `metadata.name=${name}` };
    return (await client.list(TokenSecret, namespace, query)).items[0];
  }

  const namespace = async (name: string, labels = {}): Promise<void> => {
    await create(Namespace, { metadata: { name, labels: { [optInLabel]: "true", ...labels } } });
  };

  await Promise.all([optIn(client, "default"), namespace(platformNamespace)]);
  const bridge = await kit.bridge("bridge-1");
  const env = { CONTROLLER_NAMESPACE: platformNamespace };
  const workers = await Promise.all([1, 2, 3].map((n) => kit.worker(`worker-${n}`, names, { env })));
  const bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });

  return {
    kit,
    github,
    bus,
    workers,
    bridge,
    namespace,
    create,
    patch,
    secret,
    async keySecret(namespace, name = "gh-app-key", pem = first.privateKey) {
      await create(TokenSecret, { metadata: { namespace, name }, data: { [pemKey]: base64(pem) } });
    },
    async app(name, spec = {}, namespace = "default") {
      await create(GitHubApp, { metadata: { name, namespace }, spec: appSpec(spec) });
    },
    async clusterApp(name, spec = {}) {
      await create(ClusterGitHubApp, { metadata: { name }, spec: appSpec(spec) });
    },
    installation: (name, spec = {}, namespace = "default") =>
      create(Installation, {
        metadata: { name, namespace },
        spec: {
          appRef: { kind: "GitHubApp", name: "app" },
          installationID: first.installations[0]?.id,
          key: "token",
          template: {},
          ...spec,
        },
      }),
    token: async (name, namespace) => texts(await secret(name, namespace)).token,
    async touch(kind, name) {
      await patch(kind, name, { metadata: { annotations: { touched: String(performance.now()) } } });
    },
    async events(name, namespace = "default") {
      const { items } = await client.list(Event, namespace);
      return items.filter(({ regarding }) => regarding.name === name);
    },
    mints: (installationID) =>
      github
        .requests()
        .filter(
          ({ path }) => path === `/app/installations/${installationID ?? path.split("/")[3]}/access_tokens`,
        ),
    async use(token, request, body) {
      const [method = "", path] = request.split(" ");
      const answer = await fetch(`${github.url}/api/v3${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.body?.cancel();
      return answer.status;
    },
    untilQuiet: () => untilQuiet({ bus, client, functions: ours }),
    async changes(subjects = "objects.>") {
      const changes: Change[] = [];
      const last = await bus.jsm.direct.getLastMessagesFor(streams.objects, { multi_last: [subjects] });
      for await (const { subject, data, header: headers } of last) {
        // Stored with the event, but the server's own.
        for (const name of headers.keys()) if (name.startsWith("Nats-")) headers.delete(name);
        changes.push({ subject, data, headers });
      }
      return changes;
    },
    async replay(changes) {
      await Promise.all(
        changes.map(({ subject, data, headers }) => bus.js.publish(subject, data, { headers })),
      );
    },
    writes: () => metricSum(workers, /^rest_client_requests_total\{.*method="(POST|PATCH|PUT|DELETE)"/),
    async stop() {
      await bus.nc.close();
      await kit.stop();
      await github.stop();
    },
  };
}
