/** The buttons of a preview. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { listOf, objectKeyOf, patch, remove } from "../api/objects.ts";
import { applications, builds, remoteSyncs } from "../api/resource.ts";
import { endOf, isRebuildRequested, newestFirst, numberOf } from "../builds/build.ts";
import { rebuildPatch } from "../builds/patches.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { isWebAddress, OutLink } from "../ui/link.tsx";
import { notify, notifyOutcome, withLead } from "../ui/notices.tsx";
import { openAddress, type PreviewRow } from "./preview.ts";
import { actionText, previewsText } from "./text.ts";

/** `labels`: those that a pull request must have. */
export function PreviewActions({ row, labels }: { row: PreviewRow; labels: readonly string[] }) {
  const { preview, application, sync } = row;
  const { number } = preview;
  const [isConfirming, setConfirming] = useState(false);
  const object = application ?? sync;
  if (object === undefined) return null;
  const { namespace, name } = object.metadata;
  const address = openAddress(row);
  return (
    <span class="previewactions">
      {address !== undefined && isWebAddress(address) && (
        <OutLink to={address} class="button">
          {actionText.open}
          <span class="unseen">{actionText.preview(number)}</span>
        </OutLink>
      )}
      {sync && (
        <ActionButton
          needs={{ verb: "patch", resource: builds, namespace }}
          disabled={sync.spec.paused === true || sync.metadata.deletionTimestamp !== undefined}
          onClick={() => void rebuild(sync, number)}
        >
          {actionText.rebuild}
          <span class="unseen">{actionText.preview(number)}</span>
        </ActionButton>
      )}
      <ActionButton
        needs={{ verb: "delete", resource: application ? applications : remoteSyncs, namespace }}
        class="danger"
        disabled={object.metadata.deletionTimestamp !== undefined}
        onClick={() => setConfirming(true)}
      >
        {actionText.recreate}
        <span class="unseen">{actionText.preview(number)}</span>
      </ActionButton>
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
      {isConfirming && <Recreate row={row} labels={labels} onClose={() => setConfirming(false)} />}
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
    notify("bad", withLead("Request failed:", (error as Error).message));
  }
}

/** Confirms that the objects of a preview are deleted. The function creates them again. */
function Recreate({
  row: { preview, application, sync },
  labels,
  onClose,
}: {
  row: PreviewRow;
  labels: readonly string[];
  onClose: () => void;
}) {
  const { number } = preview;
  // Their dependents first: the new objects have the same names and would find the old dependents.
  const recreate = () =>
    Promise.all([
      sync && remove(remoteSyncs, objectKeyOf(sync), "Foreground"),
      application && remove(applications, objectKeyOf(application), "Foreground"),
    ]);
  return (
    <Dialog title={actionText.recreateTitle(number)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void notifyOutcome(recreate(), actionText.recreating(number));
        }}
      >
        <p>{actionText.recreateWhat}</p>
        <p>{actionText.howToDelete(labels)}</p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {actionText.cancel}
          </button>
          <button type="submit" class="danger primary">
            {actionText.recreate}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
