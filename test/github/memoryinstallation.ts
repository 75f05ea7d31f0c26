/** An Installation in an in-memory cluster. Its function runs in this process, with real requests to a simulated GitHub. */
import { isDeepStrictEqual } from "node:util";
import { type ConditionUpdate, withConditions } from "../../bus/kube/conditions.ts";
import { ApiError } from "../../bus/kube/errors.ts";
import type { SecretObject } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Cause } from "../../bus/queue/request.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import { apiTokenOf } from "../../functions/ghapp/apitoken.ts";
import installationFunction from "../../functions/ghapp/installation.ts";
import type { Installation } from "../../functions/ghapp/kinds.ts";
import { base64 } from "../harness/secretvalues.ts";

/** The time before the first reconcile. */
export const start = Date.parse("2026-11-26T12:00:00Z");

const object = (kind: string, name: string, rest: object): Stored =>
  ({
    kind,
    metadata: { namespace: "team-a", name, uid: `${kind} ${name}`, resourceVersion: "1" },
    ...rest,
  }) as Stored;

/** An Installation of GitHub's first App for one repository of acme. */
export class MemoryInstallation {
  readonly #repository: string;
  readonly #objects = new Map<string, Stored>();
  readonly #key: Stored;
  #installation: Stored<Installation>;
  #now = start;
  #deliveries = 0;
  #isOverQuota = false;
  #statusWrites = 0;

  constructor(github: SimulatedGitHub, repository: string) {
    const [app] = github.apps;
    if (app === undefined) throw new Error("expected an App");
    this.#repository = repository;
    const privateKeySecretRef = { name: "app-key", key: "pem" };
    const allowed = [{ repositories: ["acme/*"] }];
    const spec = { url: github.url, appID: app.id, privateKeySecretRef, allowed };
    this.#put(object("GitHubApp", "app", { spec }));
    this.#key = object("Secret", "app-key", { data: { pem: base64(app.privateKey) } });
    this.#put(this.#key);
    this.#installation = object("Installation", repository, {
      spec: {
        appRef: { kind: "GitHubApp", name: "app" },
        installationID: app.installations[0]?.id,
        repositories: [repository],
        apiPermissions: { pull_requests: "write" },
        format: "basic-auth",
        template: {},
      },
    }) as Stored<Installation>;
  }

  /** Reconciles once, a second later. Resolves to the reason of the BlockedError, if any. */
  async reconcile(...causes: Cause[]): Promise<string | undefined> {
    this.#now += 1000;
    try {
      await installationFunction.reconcile(this.#installation, this.#contextOf(causes));
      return undefined;
    } catch (error) {
      if (error instanceof BlockedError) return error.reason;
      throw error;
    }
  }

  /** A new delivery of a webhook. */
  webhook(event: string): Cause {
    return { type: "webhook", provider: "github", event, delivery: String(++this.#deliveries) };
  }

  status(): Installation["status"] {
    return this.#installation.status;
  }

  ready() {
    return this.#installation.status?.conditions?.find(({ type }) => type === "Ready");
  }

  /** The number of status writes with a change. */
  statusWrites(): number {
    return this.#statusWrites;
  }

  /** The token in the Secret, in base64. */
  stored(): string | undefined {
    return (this.#objects.get(`Secret ${this.#repository}`) as SecretObject | undefined)?.data?.password;
  }

  /** The token that workers use for writes. */
  async apiToken(): Promise<string> {
    return (await apiTokenOf(this.#installation, "write", this.#contextOf([]))).token;
  }

  /** Deletes the App's private key, or creates it again. */
  setKey(isPresent: boolean): void {
    if (isPresent) this.#put(this.#key);
    else this.#objects.delete("Secret app-key");
  }

  /** Whether the API server rejects Secrets because of a quota. */
  setOverQuota(isOver: boolean): void {
    this.#isOverQuota = isOver;
  }

  #put(one: Stored): Stored {
    this.#objects.set(`${one.kind} ${one.metadata.name}`, one);
    return one;
  }

  #write(one: Stored): Stored {
    const exceeded = { reason: "Forbidden", message: "exceeded quota: secrets" };
    if (this.#isOverQuota) throw new ApiError(`PATCH ${one.metadata.name}`, 403, exceeded);
    return this.#put(one);
  }

  #create({ metadata, ...child }: KubeObject): Stored {
    const ownerReferences = [{ uid: this.#installation.metadata.uid }];
    const created = { uid: "made", resourceVersion: "1", ownerReferences };
    return this.#write({ ...child, kind: "Secret", metadata: { ...metadata, ...created } } as Stored);
  }

  #setStatus(found: Stored<Installation>, status: object, updates?: ConditionUpdate[]): Stored<Installation> {
    const at = { generation: 1, now: new Date(this.#now) };
    const conditions = updates && withConditions(found.status?.conditions as never, updates, at);
    const merged = mergePatched(found.status, { ...status, ...(conditions && { conditions }) });
    if (!isDeepStrictEqual(merged, found.status)) this.#statusWrites++;
    this.#installation = { ...found, status: merged } as Stored<Installation>;
    return this.#installation;
  }

  #contextOf(causes: Cause[]): Context {
    const get = async ({ kind }: { kind: string }, name: string) => this.#objects.get(`${kind} ${name}`);
    return {
      key: { namespace: "team-a", name: this.#repository },
      causes,
      signal: new AbortController().signal,
      log: { warn() {}, info() {} },
      now: () => this.#now,
      assertOwned() {},
      event() {},
      read: { get },
      live: { get },
      create: async (_: unknown, child: KubeObject) => this.#create(child),
      patch: async (_: unknown, found: Stored, patch: object) =>
        this.#write(mergePatched(found, patch) as Stored),
      delete: async (_: unknown, { kind, metadata }: Stored) =>
        this.#objects.delete(`${kind} ${metadata.name}`),
      status: async (_: unknown, found: Stored<Installation>, status: object, updates?: ConditionUpdate[]) =>
        this.#setStatus(found, status, updates),
    } as unknown as Context;
  }
}
