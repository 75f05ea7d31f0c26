/**
 * What becomes of a GitHub App, step by step, with the replica that did each: its key is tried, a token is kept in a
 * Secret and refreshed in time, and a pull request's webhook comes to the bus.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { optInLabel } from "../../bus/domain.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { ApiError, ApiUnreachableError, isConflict, isNotFound } from "../../bus/kube/errors.ts";
import { apiVersionOf, type Kind, Namespace } from "../../bus/kube/kind.ts";
import type { Condition, KubeObject, Stored } from "../../bus/kube/object.ts";
import { kubectlTable } from "../../bus/kube/table.ts";
import { busSettings, readSettings } from "../../bus/process/config.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { TokenSecret } from "../../functions/ghapp/secret.ts";
import type { Act, DemoOptions } from "./demo.ts";
import { say } from "./output.ts";
import { noProgram, openPullRequest, type PlayedGitHub, startPlayedGitHub } from "./playedgithub.ts";
import { duration } from "./progress.ts";
import { type LogRecord, Records } from "./records.ts";
import type { Stage } from "./stage.ts";
import { AbsentError } from "./usage.ts";
import { list as listWebhooks } from "./webhooks.ts";

/** Tokens of GitHub live for an hour; these are refreshed after ten seconds. */
const tokenSeconds = 12;
const refreshes = 2;
/** How long a step may take, and how often it is looked whether it is done. Milliseconds. */
const stepMillis = 60_000;
const lookMillis = 100;
/** How long a record may be on its way after what it tells of. Milliseconds. */
const recordMillis = 2000;
/** How long taking the namespace away may take, in milliseconds. */
const removeMillis = 2000;

const manager = { fieldManager: "denrei-cli" };
const names = { app: "app", key: "app-key", installation: "acme" };
const pem = "private-key.pem";

type Conditioned = KubeObject<unknown, { readonly conditions?: readonly Condition[] | undefined }>;

/** The act. Throws a `UsageError` without a program that plays GitHub. */
export function githubAct({ workers = 2, github: program }: DemoOptions): Act {
  if (program === undefined) throw noProgram("none");
  if (!existsSync(program)) throw noProgram(program);
  const records = new Records();
  return {
    cast: { workers, functions: ["githubapp", "installation"], gateways: 2, onLine: records.add },
    async play(stage, display, stopped) {
      const ended = new AbortController();
      const signal = AbortSignal.any([stopped, ended.signal]);
      const namespace = stage.origin === "local" ? "denrei-demo" : `denrei-demo-${stage.id}`;
      // On somebody's own bus its webhooks are nobody else's.
      const repository = stage.origin === "local" ? "acme/web" : `${namespace}/web`;
      const begun = performance.now();
      const onEnd = (error: Error) => ended.abort(error);
      const github = await startPlayedGitHub(stage, { program, repository, tokenSeconds, onEnd, signal });
      display.line("emulated GitHub", `ready after ${duration(performance.now() - begun)}`, "result");
      display.done();
      say(`\nOn ${github.url}, which plays GitHub, an App is installed on ${repository}. Its tokens live`);
      say(`for ${tokenSeconds} s, and not for an hour, so that you see them refreshed:\n`);
      await inNamespace(stage, namespace, () => tell({ stage, namespace, github, records, signal }));
    },
  };
}

/** Makes a namespace for the demo; one in somebody's own cluster is taken away again. */
async function inNamespace(
  { client, origin }: Stage,
  name: string,
  play: () => Promise<void>,
): Promise<void> {
  // Its Secrets are looked at.
  const metadata = { name, labels: { [optInLabel]: "true" } };
  const made = await client.create(
    Namespace,
    { apiVersion: "v1", kind: "Namespace", metadata, spec: {} },
    manager,
  );
  try {
    await play();
  } finally {
    if (origin === "existing") await removeNamespace(client, made);
  }
}

async function removeNamespace(client: KubeClient, { metadata }: Stored): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(Namespace, { name }, { uid, signal: AbortSignal.timeout(removeMillis) });
    say(`\nThe namespace ${name} is deleted; the CRDs stay in the cluster.`);
  } catch (error) {
    // Somebody else has taken it away.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nThe namespace ${name} could not be deleted: ${(error as Error).message}`);
  }
}

/** What the steps are made with. */
interface Play {
  readonly stage: Stage;
  readonly namespace: string;
  readonly github: PlayedGitHub;
  readonly records: Records;
  readonly signal: AbortSignal;
}

/** Does each step, and tells who did it. */
async function tell(play: Play): Promise<void> {
  const { stage, namespace, github, signal } = play;
  const { client } = stage;
  const step = storyteller(stage.replicas.map(({ name }) => name));
  const create = <T extends KubeObject>(kind: Kind<T>, name: string, content: object) => {
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, namespace } };
    return client.create(kind, { ...object, ...content } as unknown as T, { ...manager, signal });
  };

  await create(TokenSecret, names.key, {
    data: { [pem]: Buffer.from(github.privateKey).toString("base64") },
  });
  const privateKeySecretRef = { name: names.key, key: pem };
  const appSpec = { url: github.url, appID: github.appId, privateKeySecretRef };
  await create(GitHubApp, names.app, { spec: appSpec });
  step("demo", `created the GitHubApp ${names.app}, with its key in the Secret ${names.key}`);
  const app = await settled(play, GitHubApp, names.app, (found) => isReady(found));
  const isAppKnown = ({ msg, key }: LogRecord) =>
    msg === "GitHub knows the App by this key" && key === `${namespace}/${names.app}`;
  step(
    await doerOf(play, isAppKnown),
    `tried the key: the App is Ready, and GitHub knows it as ${app.status?.slug}`,
  );

  const appRef = { kind: "GitHubApp", name: names.app };
  const spec = { appRef, installationID: github.installationId, key: "token", template: {} };
  await create(Installation, names.installation, { spec });
  step("demo", `created the Installation ${names.installation}`);
  const first = await issued(play, undefined);
  step(first.by, `got a token: it is in the Secret ${first.secret}, good until ${clock(first.expiresAt)}`);

  const pull = await openPullRequest(github, signal);
  step("demo", `opened the pull request #${pull} through the API`);
  const webhook = await webhookOf(play);
  step(
    webhook.by,
    `accepted its webhook ${webhook.delivery.slice(0, 8)} with ${webhook.status}: it is stored on the bus`,
  );

  let { expiresAt } = first;
  for (let n = 0; n < refreshes; n++) {
    const next = await issued(play, expiresAt);
    step(next.by, `refreshed the token: good until ${clock(next.expiresAt)}, no longer ${clock(expiresAt)}`);
    expiresAt = next.expiresAt;
  }

  say(`\n$ kubectl get installations -n ${namespace}`);
  say(await kubectlTable(client, Installation, namespace));
  say(`\n$ npx denrei webhooks list --repository ${github.repository}`);
  const [owner = "", repository = ""] = github.repository.split("/");
  const env = stage.origin === "local" ? {} : process.env;
  await listWebhooks(readSettings(busSettings, { natsUrl: stage.natsUrl }, env), {
    repository: { owner, repository },
  });
}

/** Prints what was done, with when and by whom in columns. */
function storyteller(replicas: readonly string[]): (by: string, what: string) => void {
  const begun = performance.now();
  const width = Math.max(...replicas.map((name) => name.length));
  return (by, what) => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(4);
    say(`  ${seconds} s   ${by.padEnd(width)}   ${what}`);
  };
}

/** `12:00:40Z` of a time in RFC 3339. */
const clock = (time: string): string => time.slice(time.indexOf("T") + 1);

const conditionOf = (object: Conditioned | undefined, type: string): Condition | undefined =>
  object?.status?.conditions?.find((condition) => condition.type === type);

const isReady = (object: Conditioned): boolean => conditionOf(object, "Ready")?.status === "True";

/** The object, once it is as it should be. Throws an `AbsentError` that says what keeps it from that. */
async function settled<T extends Conditioned>(
  { stage, namespace, signal }: Play,
  kind: Kind<T>,
  name: string,
  isSettled: (object: Stored<T>) => boolean,
): Promise<Stored<T>> {
  const late = performance.now() + stepMillis;
  let found: Stored<T> | undefined;
  for (;;) {
    try {
      found = await stage.client.get(kind, { namespace, name }, signal);
      if (isSettled(found)) return found;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    if (performance.now() > late) break;
    await sleep(lookMillis, undefined, { signal });
  }
  const { message } = conditionOf(found, "Ready") ?? {};
  const others =
    stage.origin === "existing"
      ? " Other workers of this bus can not do it: they do not reach a GitHub at 127.0.0.1."
      : "";
  throw new AbsentError(
    `expected the ${kind.kind} ${name} to come forward within ${stepMillis / 1000} s, found ${message ?? "nothing said about it"}.${others}`,
  );
}

/** An API server that is being started again is waited for. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiUnreachableError || (error instanceof ApiError && error.status >= 500);

/** The replica that has logged what fits; `?` when it is none of the demo's. */
async function doerOf({ records, signal }: Play, fits: (record: LogRecord) => boolean): Promise<string> {
  const late = AbortSignal.timeout(recordMillis);
  try {
    return (await records.first(fits, AbortSignal.any([signal, late]))).replica;
  } catch {
    signal.throwIfAborted();
    return "?";
  }
}

/** The token that comes after the one that ends at `before`: who got it, where it is, and when it ends. */
async function issued(
  play: Play,
  before: string | undefined,
): Promise<{ readonly by: string; readonly secret: string; readonly expiresAt: string }> {
  const { stage, namespace, signal } = play;
  const { status } = await settled(play, Installation, names.installation, (found) => {
    const { expiresAt } = found.status ?? {};
    return isReady(found) && expiresAt !== undefined && expiresAt !== before;
  });
  const { secret = "", expiresAt = "" } = status ?? {};
  const { data } = await stage.client.get(TokenSecret, { namespace, name: secret }, signal);
  if (!data?.token)
    throw new AbsentError(`expected a token in the Secret ${secret} of ${namespace}, found none`);
  const by = await doerOf(
    play,
    (record) =>
      record.msg === "token issued" &&
      record.key === `${namespace}/${names.installation}` &&
      String(record.expiresAt).replace(/\.\d+Z$/, "Z") === expiresAt,
  );
  return { by, secret, expiresAt };
}

/** The webhook of the pull request. Throws an `AbsentError` when none comes. */
async function webhookOf({ records, signal }: Play): Promise<{
  readonly by: string;
  readonly delivery: string;
  readonly status: number;
}> {
  const late = AbortSignal.timeout(stepMillis);
  const isTaken = ({ msg, event, outcome }: LogRecord) =>
    msg === "webhook" && event === "pull_request" && outcome === "stored";
  try {
    const { replica, delivery, status } = await records.first(isTaken, AbortSignal.any([signal, late]));
    return { by: replica, delivery: String(delivery), status: Number(status) };
  } catch {
    signal.throwIfAborted();
    throw new AbsentError(
      `expected the webhook of the pull request at a gateway within ${stepMillis / 1000} s, found none`,
    );
  }
}
