/**
 * AppPipeline: an Application and a RemoteSync for each open pull request of a repository. Which are open is asked when there
 * is a reason to; what was last answered is in the status, and previews are kept as that says.
 */
import { withGitHub } from "../../bus/github/blocked.ts";
import type { ConditionUpdate } from "../../bus/kube/conditions.ts";
import { ApiError, isForbidden, isInvalid } from "../../bus/kube/errors.ts";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { keyText } from "../../bus/subjects.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type Result } from "../../bus/worker/function.ts";
import { previewName } from "./apppipeline/names.ts";
import { phaseOf } from "./apppipeline/phase.ts";
import {
  type Candidate,
  candidateIn,
  candidatesOf,
  expiryOf,
  type Selected,
  selected,
} from "./apppipeline/select.ts";
import { previewObjects } from "./apppipeline/wanted.ts";
import { repositoryOf } from "./github.ts";
import { millisOf } from "./kinds/fields.ts";
import { Application, AppPipeline, type Preview, RemoteSync } from "./kinds.ts";
import { annotations } from "./names.ts";
import { repositoryText } from "./remotesync/source.ts";
import { siteOf } from "./site/site.ts";

type Pipeline = Stored<AppPipeline>;

const defaultPollMillis = 300_000;
/** Previews whose objects are written at once. */
const batch = 10;
const messages = {
  Waiting: "there are as many previews as there may be: it has its turn when one goes",
  NeedsApproval: "it comes from another repository, and nobody has approved its last commit",
  Expired: "nothing has been pushed for so long that its preview has gone; a new commit brings it back",
} as const;

export default defineFunction({
  name: "modoki-apppipeline",
  fieldManager: "modoki-apppipeline",
  for: AppPipeline,
  owns: [Application, RemoteSync],
  indexes: {
    repository: ({ spec: { base } }) => [repositoryText(base.github.owner, base.github.repo)],
    secret: ({ metadata, spec }) => [
      keyText({ namespace: metadata.namespace ?? "", name: spec.base.github.secretName }),
    ],
  },
  watches: [
    {
      kind: Secret,
      keys: ({ metadata: { namespace = "", name } }, find) => find("secret", keyText({ namespace, name })),
    },
  ],
  webhooks: {
    pull_request: ({ owner, repository }, find) => find("repository", repositoryText(owner, repository)),
  },
  sweepMillis: 300_000,
  async reconcile(pipeline, ctx) {
    const now = new Date();
    const listed = await list(pipeline, now, ctx);
    const previews = selected(listed.candidates, pipeline.spec, shownBefore(pipeline), now);
    const troubles = await keep(pipeline, previews, ctx);
    await remove(pipeline, previews, ctx);
    const told = await tell(pipeline, previews, troubles, ctx);
    const refused = [...troubles.values()][0];
    const trouble = listed.trouble ?? refused;
    await ctx.status(
      AppPipeline,
      pipeline,
      { ...listed.status, previews: told, open: told.length, message: trouble?.message ?? "" },
      [listed.condition, readyOf(listed.condition, refused)],
    );
    if (trouble !== undefined) throw trouble;
    return nextLook(pipeline, previews, now);
  },
});

const shownBefore = ({ status }: Pipeline): ReadonlySet<number> =>
  new Set(
    status?.previews?.filter(({ application }) => application !== undefined).map(({ number }) => number),
  );

/** What is known of open pull requests. */
interface Listed {
  readonly candidates: readonly Candidate[];
  readonly condition: ConditionUpdate;
  readonly status: Partial<NonNullable<AppPipeline["status"]>>;
  readonly trouble?: BlockedError;
}

const listedType = "PullRequestsListed";

/** Open pull requests: as GitHub says now, if there is a reason to ask; else, or when it does not tell, as it said last. */
async function list(pipeline: Pipeline, now: Date, ctx: Context): Promise<Listed> {
  const { spec, status, metadata } = pipeline;
  const before = status?.previews ?? [];
  const known = before.map(candidateIn);
  const said = status?.conditions?.find(({ type }) => type === listedType);
  if (!isDue(pipeline, now, ctx) && said) return { candidates: known, condition: said, status: {} };
  const answered = { refreshedAt: metadata.annotations?.[annotations.refreshedAt] ?? "" };
  try {
    const { config } = await siteOf(ctx);
    const { client } = await repositoryOf(spec.base.github, config.github.url, ctx);
    const pulls = await withGitHub("Token", () => client.openPullRequests(ctx.signal));
    return {
      candidates: candidatesOf(pulls, spec, known, now),
      condition: { type: listedType, status: "True", reason: "Listed", message: "" },
      status: {
        ...answered,
        listedAt: now.toISOString().replace(/\.\d+Z$/, "Z"),
        ...(metadata.generation !== undefined && { listedGeneration: metadata.generation }),
      },
    };
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    const { reason, message } = error;
    return {
      candidates: known,
      condition: { type: listedType, status: "False", reason, message },
      status: answered,
      trouble: error,
    };
  }
}

/** Whether GitHub is to be asked. What becomes of previews is no reason to. */
function isDue({ metadata, status = {}, spec }: Pipeline, now: Date, { causes }: Context): boolean {
  if (status.listedGeneration !== metadata.generation || status.listedAt === undefined) return true;
  if ((metadata.annotations?.[annotations.refreshedAt] ?? "") !== (status.refreshedAt ?? "")) return true;
  if (causes.some(({ type }) => type === "webhook" || type === "replay")) return true;
  const isListed = status.conditions?.some(
    ({ type, status: value }) => type === listedType && value === "True",
  );
  if (!isListed)
    return causes.some(
      (cause) => cause.type === "timer" || (cause.type === "object" && cause.kind === "Secret"),
    );
  const isTimer = causes.every(({ type }) => type === "timer");
  // A timer may be a little early.
  return isTimer && now.getTime() >= Date.parse(status.listedAt) + pollMillis(spec) * 0.9;
}

const pollMillis = ({ pollInterval }: Pipeline["spec"]): number =>
  pollInterval === undefined ? defaultPollMillis : Math.max(10_000, millisOf(pollInterval));

/** Makes and changes the objects of previews that are shown. Why some can not be made, by number. */
async function keep(
  pipeline: Pipeline,
  previews: readonly Selected[],
  ctx: Context,
): Promise<ReadonlyMap<number, BlockedError>> {
  const troubles = new Map<number, BlockedError>();
  const shown = previews.filter(({ state }) => state === "shown");
  for (let at = 0; at < shown.length; at += batch) {
    await Promise.all(
      shown.slice(at, at + batch).map(async (preview) => {
        const { application, remoteSync } = previewObjects(pipeline, preview);
        try {
          await ctx.apply(Application, application);
          await ctx.apply(RemoteSync, remoteSync);
        } catch (error) {
          troubles.set(preview.number, refusalOf(error));
        }
      }),
    );
  }
  return troubles;
}

function refusalOf(error: unknown): BlockedError {
  if (error instanceof BlockedError) return error;
  if (!(error instanceof ApiError) || !(isInvalid(error) || isForbidden(error))) throw error;
  return new BlockedError("PreviewRefused", error.message, undefined, { cause: error });
}

/** Takes away what belongs to no preview that is shown. */
async function remove(pipeline: Pipeline, previews: readonly Selected[], ctx: Context): Promise<void> {
  const { name } = pipeline.metadata;
  const shown = new Set(
    previews.filter(({ state }) => state === "shown").map(({ number }) => previewName(name, number)),
  );
  for (const kind of [RemoteSync, Application] as readonly Kind[]) {
    for (const child of await ctx.read.children(kind)) {
      if (!shown.has(child.metadata.name) && child.metadata.deletionTimestamp === undefined)
        await ctx.delete(kind, child);
    }
  }
}

/** What the status says of each preview. */
async function tell(
  pipeline: Pipeline,
  previews: readonly Selected[],
  troubles: ReadonlyMap<number, BlockedError>,
  ctx: Context,
): Promise<Preview[]> {
  const byName = <T extends Stored>(objects: readonly T[]) =>
    new Map(objects.map((object) => [object.metadata.name, object]));
  const applications = byName(await ctx.read.children(Application));
  const remoteSyncs = byName(await ctx.read.children(RemoteSync));
  return previews.map(({ state, ...candidate }): Preview => {
    if (state !== "shown") return { ...candidate, phase: state, message: messages[state] };
    const { host, application } = previewObjects(pipeline, candidate);
    const { name } = application.metadata;
    const found = applications.get(name);
    const trouble = troubles.get(candidate.number);
    const isBehind = candidate.approvedSHA !== undefined && candidate.approvedSHA !== candidate.headSHA;
    const phase = trouble
      ? { phase: "Failed" as const, message: trouble.message }
      : phaseOf(found, remoteSyncs.get(name), candidate);
    return {
      ...candidate,
      application: name,
      url: found?.status?.url || `https://${host}`,
      ...phase,
      ...(isBehind && {
        message: `it shows ${candidate.approvedSHA}: nobody has approved a later commit`,
      }),
    };
  });
}

function readyOf(listed: ConditionUpdate, refused: BlockedError | undefined): ConditionUpdate {
  const type = "Ready";
  if (listed.status !== "True") return { ...listed, type };
  if (refused) return { type, status: "False", reason: refused.reason, message: refused.message };
  return { type, status: "True", reason: "Listed", message: "" };
}

/** When GitHub is asked again, or a preview goes by itself. */
function nextLook({ spec }: Pipeline, previews: readonly Selected[], now: Date): Result {
  const { ttl } = spec;
  const ends =
    ttl === undefined
      ? []
      : previews
          .filter(({ state }) => state === "shown" || state === "Waiting")
          .map((preview) => expiryOf(preview, ttl) - now.getTime());
  return { requeueAfter: Math.max(1000, Math.min(pollMillis(spec), ...ends)) };
}
