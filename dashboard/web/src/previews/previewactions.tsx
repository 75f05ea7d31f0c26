/** The buttons of a preview. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { listOf, type ObjectKey, objectKeyOf, patch, patchNewest } from "../api/objects.ts";
import { appPipelines, builds } from "../api/resource.ts";
import { endOf, isRebuildRequested, newestFirst, numberOf } from "../builds/build.ts";
import { rebuildPatch } from "../builds/patches.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { isWebAddress, OutLink } from "../ui/link.tsx";
import { notify, notifyFailure, notifyOutcome } from "../ui/notices.tsx";
import { openAddress, type PreviewRow } from "./preview.ts";
import { actionText, previewsText } from "./text.ts";

/** `pipeline`: the AppPipeline of the preview. */
export function PreviewActions({ row, pipeline }: { row: PreviewRow; pipeline: ObjectKey }) {
  const { preview, application, sync, isExcluded } = row;
  const { number } = preview;
  const [isConfirming, setConfirming] = useState(false);
  const object = application ?? sync;
  if (object === undefined && !isExcluded) return null;
  const address = openAddress(row);
  const createAgain = () => void notifyOutcome(exclude(pipeline, number, false), actionText.creating(number));
  return (
    <span class="previewactions">
      {address !== undefined && isWebAddress(address) && (
        <OutLink to={address} class="button">
          {actionText.open}
          <span class="unseen">{actionText.preview(number)}</span>
        </OutLink>
      )}
      {sync && !isExcluded && <Rebuild sync={sync} number={number} />}
      {/* One element, so that the focus stays on it. */}
      <ActionButton
        key="deletion"
        needs={{ verb: "patch", resource: appPipelines, namespace: pipeline.namespace }}
        class={isExcluded ? undefined : "danger"}
        onClick={isExcluded ? createAgain : () => setConfirming(true)}
      >
        {isExcluded ? actionText.createAgain : actionText.delete}
        <span class="unseen">{isExcluded ? actionText.for(number) : actionText.preview(number)}</span>
      </ActionButton>
      {object && !isExcluded && <ObjectLinks object={object} number={number} />}
      {isConfirming && (
        <ConfirmDeletion number={number} pipeline={pipeline} onClose={() => setConfirming(false)} />
      )}
    </span>
  );
}

function Rebuild({ sync, number }: { sync: Stored<RemoteSync>; number: number }) {
  const { namespace, deletionTimestamp } = sync.metadata;
  return (
    <ActionButton
      needs={{ verb: "patch", resource: builds, namespace }}
      unavailable={
        deletionTimestamp !== undefined
          ? actionText.goingAway(number)
          : sync.spec.paused
            ? actionText.paused(number)
            : undefined
      }
      onClick={() => void rebuild(sync, number)}
    >
      {actionText.rebuild}
      <span class="unseen">{actionText.preview(number)}</span>
    </ActionButton>
  );
}

/** Links to the screens of the preview's Application and RemoteSync, which have the same name. */
function ObjectLinks({ object: { metadata }, number }: { object: Stored; number: number }) {
  const { namespace, name } = metadata;
  return (
    <span class="small row">
      <a href={`/applications/${namespace}/${name}`}>
        {previewsText.application}
        <span class="unseen">{previewsText.of(number)}</span>
      </a>
      <a href={`/builds/${namespace}/${name}`}>
        {previewsText.build}
        <span class="unseen">{previewsText.of(number)}</span>
      </a>
    </span>
  );
}

/** Repeats the newest build, even a failed one. Nothing watches the builds of all previews, so they are listed now. */
async function rebuild({ metadata }: Stored<RemoteSync>, number: number): Promise<void> {
  try {
    const { namespace, name } = metadata;
    const [newest] = newestFirst(
      await listOf(builds, { namespace, labelSelector: `${labels.remoteSync}=${name}` }),
    );
    if (newest === undefined) return notify("bad", actionText.noBuild(number));
    if (endOf(newest) === undefined || isRebuildRequested(newest))
      return notify("bad", actionText.alreadyBuilding(number));
    await patch(builds, objectKeyOf(newest), rebuildPatch());
    notify("good", actionText.rebuilding(number, numberOf(newest)));
  } catch (error) {
    notifyFailure(error as Error);
  }
}

/** Adds a pull request to those that the AppPipeline excludes, or removes it. The function deletes or creates the objects. */
const exclude = (pipeline: ObjectKey, number: number, isExcluded: boolean): Promise<unknown> =>
  patchNewest(appPipelines, pipeline, ({ spec }) => {
    const others = (spec.filter?.excluded ?? []).filter((one) => one !== number);
    const excluded = isExcluded ? [...others, number].sort((a, b) => a - b) : others;
    return { spec: { filter: { excluded: excluded.length === 0 ? null : excluded } } };
  });

/** Confirms that a preview is deleted, and stays so. */
function ConfirmDeletion({
  number,
  pipeline,
  onClose,
}: {
  number: number;
  pipeline: ObjectKey;
  onClose: () => void;
}) {
  return (
    <Dialog title={actionText.deleteTitle(number)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void notifyOutcome(exclude(pipeline, number, true), actionText.deleting(number));
        }}
      >
        <p>{actionText.whatIsDeleted}</p>
        <p>{actionText.howLong}</p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {actionText.cancel}
          </button>
          <button type="submit" class="danger primary">
            {actionText.delete}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
