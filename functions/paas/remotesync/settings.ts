/**
 * Settings that kpack refuses for its Image. They must not keep a revision from being built, so the Image is applied with its
 * current settings, and the refused ones are retried later.
 */

import { BlockedError, type Context, digestOf, type NewChild, type Stored } from "denrei";
import { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { retryMillis } from "../retry.ts";
import { growthProblem } from "./cache.ts";
import { writeToKpack } from "./kpackwrite.ts";
import { type Progress, warn } from "./status.ts";

type Refused = NonNullable<NonNullable<RemoteSync["status"]>["refusedSettings"]>;
type DesiredImage = NewChild<Image>;

/** How to recreate the Image with the settings that kpack refuses. */
export const recreateHint = ({ metadata: { namespace, name } }: RemoteSync): string =>
  `To recreate the Image with the settings of the spec, run: kubectl annotate remotesync ${name} -n ${namespace} ${annotations.recreateImage}=$(date +%s) --overwrite. The deployed image stays, but the cache and the build history are lost.`;

/** The desired Image, then the same with the current cache, then the same with all current settings. */
function variantsOf(desired: DesiredImage, found: Stored<Image>): readonly [DesiredImage, ...DesiredImage[]] {
  const { git } = desired.spec.source;
  const { cache: _, ...cacheless } = desired.spec;
  const own = Object.fromEntries(
    Object.keys({ ...desired.spec, cache: 0 }).flatMap((key) =>
      found.spec[key] === undefined ? [] : [[key, found.spec[key]]],
    ),
  ) as unknown as Image["spec"];
  const { cache } = found.spec;
  return [
    desired,
    { ...desired, spec: { ...cacheless, ...(cache !== undefined && { cache }) } },
    {
      ...desired,
      spec: {
        ...own,
        additionalTags: desired.spec.additionalTags ?? [],
        source: { ...found.spec.source, git },
      },
    },
  ];
}

/** Identifies the desired settings, without the revision, for this Image. */
function digestOfSettings({ spec }: DesiredImage, { metadata }: Stored<Image>): string {
  const { additionalTags: _, source, ...settings } = spec;
  return digestOf([settings, source.subPath ?? "", metadata.uid], 16);
}

const retryTime = ({ now }: Pick<Context, "now">): string => new Date(now() + retryMillis).toISOString();

/** The variant to apply first, and why it is not the desired one. */
export interface Plan {
  readonly variants: readonly [DesiredImage, ...DesiredImage[]];
  readonly first: number;
  readonly refused: Omit<Refused, "kept"> | undefined;
}

/** Skips settings that kpack is known to refuse, so that it is not asked at every reconcile. */
export async function planOf(
  sync: Stored<RemoteSync>,
  desired: DesiredImage,
  found: Stored<Image> | undefined,
  ctx: Context,
): Promise<Plan> {
  if (found === undefined) return { variants: [desired], first: 0, refused: undefined };
  const variants = variantsOf(desired, found);
  const digest = digestOfSettings(desired, found);
  const before = sync.status?.refusedSettings;
  if (before?.digest === digest && ctx.now() < Date.parse(before.retryAt))
    return { variants, first: before.kept === "cache" ? 1 : 2, refused: before };
  const message = await growthProblem(found, desired, ctx);
  if (message === undefined) return { variants, first: 0, refused: undefined };
  return {
    variants,
    first: 1,
    refused: { digest, reason: "CacheCannotGrow", message, retryAt: retryTime(ctx) },
  };
}

/** Applies the first variant of the plan that kpack accepts. Throws a `BlockedError` when it accepts none. */
export async function applyPlan(
  sync: Stored<RemoteSync>,
  { variants, first, refused: known }: Plan,
  found: Stored<Image> | undefined,
  ctx: Context,
  progress: Progress,
): Promise<Stored<Image>> {
  let refused = known;
  for (let at = first; ; at++) {
    const variant = variants[at] ?? variants[0];
    try {
      const image = await writeToKpack(() => ctx.apply(Image, variant));
      report(sync, refused && { ...refused, kept: at === 1 ? "cache" : "settings" }, ctx, progress);
      return image;
    } catch (error) {
      if (!(error instanceof BlockedError) || error.reason !== "ImageRefused" || found === undefined)
        throw error;
      const { message } = error;
      if (at + 1 >= variants.length)
        throw new BlockedError(error.reason, `${message} ${recreateHint(sync)}`, retryMillis, {
          cause: error,
        });
      refused ??= {
        digest: digestOfSettings(variants[0], found),
        retryAt: retryTime(ctx),
        reason: "SettingsRefused",
        message,
      };
    }
  }
}

/** Reports the condition `SettingsApplied`, from the first refusal on. */
function report(
  sync: Stored<RemoteSync>,
  refused: Refused | undefined,
  ctx: Context,
  progress: Progress,
): void {
  const type = "SettingsApplied";
  progress.status.refusedSettings = refused ?? null;
  const before = sync.status?.conditions?.find((condition) => condition.type === type);
  if (refused === undefined) {
    if (before) progress.conditions.push({ type, status: "True", reason: "Applied", message: "" });
    return;
  }
  const { reason } = refused;
  const message = `commits are built with the current ${refused.kept} of the Image: ${refused.message}. ${recreateHint(sync)}`;
  progress.conditions.push({ type, status: "False", reason, message: message.slice(0, 2000) });
  if (before?.status !== "False") ctx.event("Warning", reason, message.slice(0, 1000));
  warn(progress, new BlockedError(reason, message, Date.parse(refused.retryAt) - ctx.now()));
}
