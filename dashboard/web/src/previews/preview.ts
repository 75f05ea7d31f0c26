/** Reads the previews of an AppPipeline. Pure. */
import type { Application, AppPipeline, Preview, RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { humanize, type Tone } from "../ui/health.ts";
import { previewsText as text } from "./text.ts";

/** A preview and its objects, as far as they exist and the user may see them. */
export interface PreviewRow {
  readonly preview: Preview;
  readonly application: Stored<Application> | undefined;
  readonly sync: Stored<RemoteSync> | undefined;
  /** Whether the user has deleted it: the AppPipeline's filter names the pull request. */
  readonly isExcluded: boolean;
}

/** The previews of an AppPipeline with their objects, those with the most recent change first. */
export function previewRows(
  { spec, status }: AppPipeline,
  applications: readonly Stored<Application>[],
  syncs: readonly Stored<RemoteSync>[],
): readonly PreviewRow[] {
  const [applicationOf, syncOf] = [byName(applications), byName(syncs)];
  const excluded = new Set(spec.filter?.excluded);
  return (status?.previews ?? [])
    .map((preview) => ({
      preview,
      application: applicationOf.get(preview.application ?? ""),
      sync: syncOf.get(preview.application ?? ""),
      isExcluded: excluded.has(preview.number),
    }))
    .sort((a, b) => Date.parse(changedAt(b.preview)) - Date.parse(changedAt(a.preview)));
}

const byName = <T extends Stored>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

/** When the pull request last changed. Earlier versions recorded only its last commit. */
export const changedAt = ({ updatedAt, since }: Preview): string => updatedAt ?? since;

const tones: Readonly<Record<Preview["phase"], Tone>> = {
  Waiting: "off",
  NeedsApproval: "off",
  Expired: "off",
  Excluded: "off",
  Resolving: "busy",
  Building: "busy",
  Deploying: "busy",
  Ready: "good",
  Failed: "bad",
};

/** The status of a preview. A change of the filter shows before the function has handled it. */
export function statusOf({ preview: { phase }, isExcluded }: PreviewRow): readonly [Tone, string] {
  if (isExcluded === (phase === "Excluded")) return [tones[phase], humanize(phase)];
  return ["busy", isExcluded ? text.deleting : text.creating];
}

/** The status by which previews are filtered. */
export const toneOf = (row: PreviewRow): Tone => statusOf(row)[0];

/** The text that a search finds. */
export function searchText(row: PreviewRow): string {
  const { number, title, author, headRef, headSHA, approvedSHA, fork, url } = row.preview;
  const texts = [`#${number}`, title, author, headRef, headSHA, approvedSHA, fork, url, statusOf(row)[1]];
  return texts.filter((text) => text !== undefined).join(" ");
}

/** The pods that run and those that should run; undefined while that is unknown. */
export function podsOf({ application }: PreviewRow): readonly [ready: number, wanted: number] | undefined {
  if (application?.status === undefined) return undefined;
  return [application.status.readyReplicas ?? 0, application.spec.replicas];
}

/** The address of a preview, if something responds at it. */
export function openAddress(row: PreviewRow): string | undefined {
  const pods = podsOf(row);
  const responds = pods === undefined ? row.preview.phase === "Ready" : pods[0] > 0;
  return responds ? row.preview.url : undefined;
}
