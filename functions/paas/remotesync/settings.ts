/**
 * Settings of kpack's Image that kpack refuses: they keep no revision from being built. The Image is then applied with the settings
 * that it has, and the others wait.
 */

import type { Stored } from "../../../bus/kube/object.ts";
import { digestOf } from "../../../bus/values/digest.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context, NewChild } from "../../../bus/worker/function.ts";
import { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { patience } from "../problems.ts";
import { growthProblem } from "./cache.ts";
import { type Said, warn } from "./status.ts";
import { taken } from "./taken.ts";

type Refused = NonNullable<NonNullable<RemoteSync["status"]>["refusedSettings"]>;
type Wanted = NewChild<Image>;

/** How to have the Image again with the settings that kpack refuses. */
export const recreateHint = ({ metadata: { namespace, name } }: RemoteSync): string =>
  `Run this to create the Image again with the settings of the spec: kubectl annotate remotesync ${name} -n ${namespace} ${annotations.recreateImage}=$(date +%s) --overwrite. The deployed image stays; the cache, and the history of builds, are lost.`;

/** The wanted Image, then the same with the present cache, then the same with all present settings. */
function variantsOf(wanted: Wanted, found: Stored<Image>): readonly [Wanted, ...Wanted[]] {
  const { git } = wanted.spec.source;
  const { cache: _, ...cacheless } = wanted.spec;
  const own = Object.fromEntries(
    Object.keys({ ...wanted.spec, cache: 0 }).flatMap((key) =>
      found.spec[key] === undefined ? [] : [[key, found.spec[key]]],
    ),
  ) as unknown as Image["spec"];
  const { cache } = found.spec;
  return [
    wanted,
    { ...wanted, spec: { ...cacheless, ...(cache !== undefined && { cache }) } },
    {
      ...wanted,
      spec: {
        ...own,
        additionalTags: wanted.spec.additionalTags ?? [],
        source: { ...found.spec.source, git },
      },
    },
  ];
}

/** Identifies the wanted settings, without the revision, of this very Image. */
function digestOfSettings({ spec }: Wanted, { metadata }: Stored<Image>): string {
  const { additionalTags: _, source, ...settings } = spec;
  return digestOf([settings, source.subPath ?? "", metadata.uid], 16);
}

const retryTime = ({ now }: Pick<Context, "now">): string => new Date(now() + patience).toISOString();

/** What to apply first, and why that is not what is wanted. */
export interface Plan {
  readonly variants: readonly [Wanted, ...Wanted[]];
  readonly first: number;
  readonly refused: Omit<Refused, "keeps"> | undefined;
}

/** Finds out which settings kpack is known to refuse, without asking it again each time. */
export async function planOf(
  sync: Stored<RemoteSync>,
  wanted: Wanted,
  found: Stored<Image> | undefined,
  ctx: Context,
): Promise<Plan> {
  if (found === undefined) return { variants: [wanted], first: 0, refused: undefined };
  const variants = variantsOf(wanted, found);
  const digest = digestOfSettings(wanted, found);
  const before = sync.status?.refusedSettings;
  if (before?.digest === digest && ctx.now() < Date.parse(before.retryAt))
    return { variants, first: before.keeps === "cache" ? 1 : 2, refused: before };
  const message = await growthProblem(found, wanted, ctx);
  if (message === undefined) return { variants, first: 0, refused: undefined };
  return {
    variants,
    first: 1,
    refused: { digest, reason: "CacheCannotGrow", message, retryAt: retryTime(ctx) },
  };
}

/** Applies the first variant from that of the plan on that kpack accepts. Throws a `BlockedError` when it accepts none. */
export async function applyPlan(
  sync: Stored<RemoteSync>,
  { variants, first, refused: known }: Plan,
  found: Stored<Image> | undefined,
  ctx: Context,
  said: Said,
): Promise<Stored<Image>> {
  let refused = known;
  for (let at = first; ; at++) {
    const variant = variants[at] ?? variants[0];
    try {
      const image = await taken(() => ctx.apply(Image, variant));
      report(sync, refused && { ...refused, keeps: at === 1 ? "cache" : "settings" }, ctx, said);
      return image;
    } catch (error) {
      if (!(error instanceof BlockedError) || error.reason !== "ImageRefused" || found === undefined)
        throw error;
      const { message } = error;
      if (at + 1 >= variants.length)
        throw new BlockedError(error.reason, `${message} ${recreateHint(sync)}`, patience, { cause: error });
      refused ??= {
        digest: digestOfSettings(variants[0], found),
        retryAt: retryTime(ctx),
        reason: "SettingsRefused",
        message,
      };
    }
  }
}

/** The condition `SettingsApplied` is there from the first refusal on. */
function report(sync: Stored<RemoteSync>, refused: Refused | undefined, ctx: Context, said: Said): void {
  const type = "SettingsApplied";
  said.status.refusedSettings = refused ?? null;
  const before = sync.status?.conditions?.find((condition) => condition.type === type);
  if (refused === undefined) {
    if (before) said.conditions.push({ type, status: "True", reason: "Applied", message: "" });
    return;
  }
  const { reason } = refused;
  const message = `commits are built with the ${refused.keeps} that the Image has: ${refused.message}. ${recreateHint(sync)}`;
  said.conditions.push({ type, status: "False", reason, message: message.slice(0, 2000) });
  if (before?.status !== "False") ctx.event("Warning", reason, message.slice(0, 1000));
  warn(said, new BlockedError(reason, message, Date.parse(refused.retryAt) - ctx.now()));
}
