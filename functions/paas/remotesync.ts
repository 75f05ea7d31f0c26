/**
 * RemoteSync: resolves a branch, a pull request, or a commit to an exact revision, has kpack build it, and sets the image in the
 * Application.
 */
import {
  BlockedError,
  type ConditionUpdate,
  type Context,
  defineFunction,
  github,
  keyText,
  Secret,
  ServiceAccount,
  type Stored,
} from "denrei";
import { apiTokenPermissions, Installation } from "../ghapp/apitoken.ts";
import { findAll, keysOfMove, keysOfWebhook, repositoryKeys } from "./identity.ts";
import { Build, Image } from "./kinds/kpack.ts";
import { Application, RemoteSync } from "./kinds.ts";
import { annotations, group, labels } from "./names.ts";
import { secretNamesOf } from "./remotesync/account.ts";
import { build } from "./remotesync/build.ts";
import { follow } from "./remotesync/follow.ts";
import {
  deprecatedIn,
  indexed,
  pushedBranch,
  pushedTag,
  sourcesOf,
  sourcesOfPush,
} from "./remotesync/source.ts";
import {
  conditionsOf,
  newProgress,
  type Progress,
  type Step,
  setStep,
  warningOf,
} from "./remotesync/status.ts";
import { retryMillis } from "./retry.ts";
import { siteIndex, siteOf, watchSite } from "./site/site.ts";

type Sync = Stored<RemoteSync>;

/** An older RemoteSync may also end the conflict by naming another Application, which no watch reports. Milliseconds. */
const conflictMillis = 30_000;

const at = (sync: Pick<RemoteSync, "metadata">, name: string): string =>
  keyText({ namespace: sync.metadata.namespace ?? "", name });

export default defineFunction({
  name: "modoki-remotesync",
  fieldManager: "modoki-remotesync",
  for: RemoteSync,
  owns: [ServiceAccount, Image],
  indexes: {
    ...siteIndex,
    source: sourcesOf,
    repository: ({ spec, status }) => repositoryKeys(spec.base.github, status?.repository),
    application: (sync) => [at(sync, sync.spec.applicationRef.name)],
    secret(sync) {
      const { git, registry } = secretNamesOf(sync);
      return [git, ...(registry === undefined ? [] : [registry])].map((name) => at(sync, name));
    },
  },
  watches: [
    watchSite,
    { kind: Secret, keys: ({ metadata }, find) => find("secret", at({ metadata }, metadata.name)) },
    { kind: Installation, keys: ({ metadata }, find) => find("secret", at({ metadata }, metadata.name)) },
    { kind: Application, keys: ({ metadata }, find) => find("application", at({ metadata }, metadata.name)) },
    // When one RemoteSync is deleted, another one of the same Application may take over.
    {
      kind: RemoteSync,
      keys: (sync, find) => find("application", at(sync, (sync as RemoteSync).spec.applicationRef.name)),
    },
    {
      kind: Build,
      keys({ metadata: { namespace = "", labels: found } }) {
        const name = found?.[labels.remoteSync];
        return name === undefined ? [] : [{ namespace, name }];
      },
    },
  ],
  webhooks: [
    github.on("push", {
      keys({ owner, repository, data }, find) {
        const { id, default_branch } = data.repository;
        const [branch, tag] = [pushedBranch(data.ref), pushedTag(data.ref)];
        const sources = keysOfWebhook(owner, repository, id).flatMap((key) => [
          ...(branch === undefined ? [] : sourcesOfPush(key, branch, default_branch)),
          ...(tag === undefined ? [] : [indexed.ref(key, tag)]),
        ]);
        return findAll(find, "source", sources);
      },
    }),
    github.on("pull_request", {
      keys({ owner, repository, data }, find) {
        const keys = keysOfWebhook(owner, repository, data.repository.id);
        return findAll(
          find,
          "source",
          keys.map((key) => indexed.pullRequest(key, data.number)),
        );
      },
    }),
    github.on("repository", {
      keys: ({ owner, repository, data }, find) =>
        findAll(find, "repository", keysOfMove(owner, repository, data)),
    }),
  ],
  permissions: [
    { apiGroups: [group], resources: ["applications"], verbs: ["patch"] },
    { apiGroups: ["kpack.io"], resources: ["builds"], verbs: ["patch"] },
    { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
    // To find out whether the volume of a cache can grow.
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get"] },
    { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["get"] },
    ...apiTokenPermissions,
  ],
  sweepMillis: 300_000,
  outbound: { github: true },
  async reconcile(sync, ctx) {
    if (sync.spec.paused) return paused(sync, ctx);
    const progress = newProgress();
    const blocked = await keep(sync, ctx, progress).catch(async (error: unknown) => {
      if (error instanceof BlockedError) return error;
      await noteRevision(sync, ctx, progress);
      throw error;
    });
    progress.conditions.push(...deprecation(sync));
    const conditions = conditionsOf(progress, blocked);
    const ready = conditions.at(-1);
    progress.status.message = ready?.status === "True" ? "" : (ready?.message ?? "");
    progress.status.warning =
      (ready?.status === "True" && warningOf(progress)?.message.slice(0, 2000)) || null;
    await ctx.status(RemoteSync, sync, progress.status, conditions);
    const soonest = Math.min(...progress.delays);
    if (blocked !== undefined) throw soonerThan(blocked, soonest);
    return progress.delays.length === 0 ? undefined : { requeueAfter: soonest };
  },
});

/** Returns the condition `Deprecated` if the spec has deprecated fields, or had some before. */
function deprecation(sync: Sync): ConditionUpdate[] {
  const type = "Deprecated";
  const message = deprecatedIn(sync);
  if (message !== undefined) return [{ type, status: "True", reason: "DeprecatedFields", message }];
  const before = sync.status?.conditions?.some((condition) => condition.type === type);
  return before ? [{ type, status: "False", reason: "NoDeprecatedFields", message: "" }] : [];
}

/** Shortens the retry interval to the next delay: one timer serves both. */
function soonerThan(blocked: BlockedError, millis: number): BlockedError {
  const { reason, message, retryAfterMillis } = blocked;
  if (millis >= retryAfterMillis) return blocked;
  return new BlockedError(reason, message, millis, { cause: blocked });
}

/** Records GitHub's answer when a later step fails: the webhook that caused it may not be delivered a second time. */
async function noteRevision(sync: Sync, ctx: Context, progress: Progress): Promise<void> {
  const { source, revision, ref, headSHA, baseBranch } = progress.status;
  if (ctx.signal.aborted || !revision || revision === sync.status?.revision) return;
  const noted = { source, revision, ref, headSHA, baseBranch };
  await ctx.status(RemoteSync, sync, noted).catch((err: unknown) => {
    ctx.log.warn({ err }, "failed to record the revision, it will be resolved again");
  });
}

/**
 * Runs the steps until one fails. Records its `BlockedError` for the step, and throws it. Returns a `BlockedError` that does not
 * prevent the following steps.
 */
async function keep(sync: Sync, ctx: Context, progress: Progress): Promise<BlockedError | undefined> {
  const step = <T>(name: Step, work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      if (error instanceof BlockedError) setStep(progress, name, "False", error.reason, error.message);
      throw error;
    });

  await step("Deployed", () => expectNoElder(sync, ctx));
  const { config } = await step("SourceResolved", () => siteOf(ctx));
  const { revision, blocked } = await follow(sync, config.github, ctx, progress);
  if (revision === undefined) return blocked;
  const image = await step("Built", () => build(sync, revision, config, ctx, progress));
  if (image !== undefined) await step("Deployed", () => deploy(sync, { image, revision }, ctx, progress));
  return blocked;
}

/** Two RemoteSyncs of one Application would overwrite each other's image, so the older one wins. */
async function expectNoElder(sync: Sync, ctx: Context): Promise<void> {
  const { name } = sync.spec.applicationRef;
  const others = await ctx.read.find("application", at(sync, name));
  for (const key of others) {
    if (key.name === sync.metadata.name) continue;
    const other = await ctx.read.get(RemoteSync, key.name);
    if (other === undefined || other.metadata.deletionTimestamp !== undefined || !isOlder(other, sync))
      continue;
    throw new BlockedError(
      "ApplicationConflict",
      `the Application ${name} already has an older RemoteSync, ${other.metadata.name}. Delete one of them, or name another Application.`,
      conflictMillis,
    );
  }
}

function isOlder(a: Sync, b: Sync): boolean {
  const [of, than] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.uid}`);
  return (of ?? "") < (than ?? "");
}

/** Sets the image and the pull Secret in the Application. The RemoteSync owns no other fields of it. */
async function deploy(
  sync: Sync,
  { image, revision }: { readonly image: string; readonly revision: string },
  ctx: Context,
  progress: Progress,
): Promise<void> {
  const { name } = sync.spec.applicationRef;
  const found = (await ctx.read.get(Application, name)) ?? (await ctx.live.get(Application, name));
  if (found === undefined || found.metadata.deletionTimestamp !== undefined)
    throw new BlockedError(
      "ApplicationNotFound",
      `found no Application ${name} in ${ctx.key.namespace}. Create it, or name another one.`,
      retryMillis,
    );
  const { registry } = secretNamesOf(sync);
  await ctx.applyFields(Application, found, {
    metadata: { annotations: { [annotations.revision]: revision } },
    spec: { image, ...(registry !== undefined && { imagePullSecrets: [{ name: registry }] }) },
  });
  if (found.spec.image !== image)
    ctx.event("Normal", "Deployed", `set the image of Application ${name} to ${image}`);
  setStep(progress, "Deployed", "True", "Deployed", `the Application ${name} has the image of ${revision}`);
}

/** Reports the pause, and changes nothing else. */
async function paused(sync: Sync, ctx: Context): Promise<undefined> {
  const message = "spec.paused is set";
  await ctx.status(RemoteSync, sync, { message }, [
    { type: "Ready", status: "False", reason: "Paused", message },
  ]);
  return undefined;
}
