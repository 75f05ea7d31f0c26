/** The buttons of a RemoteSync's screen. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Build } from "@denrei/functions/paas/kinds/kpack";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { objectKeyOf, patch, remove } from "../api/objects.ts";
import { builds as buildResource, remoteSyncs } from "../api/resource.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { endOf, isRebuildRequested, newestFirst, numberOf } from "./build.ts";
import { rebuildPatch, refreshPatch } from "./patches.ts";

export function Actions({ sync, builds }: { sync: Stored<RemoteSync>; builds: readonly Stored<Build>[] }) {
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  const { metadata, spec } = sync;
  const change = (body: object, done: string) =>
    void notifyOutcome(patch(remoteSyncs, objectKeyOf(sync), body), done);
  return (
    <>
      <button
        type="button"
        disabled={spec.paused === true}
        onClick={() => change(refreshPatch(), "Checking GitHub for a newer commit.")}
      >
        Refresh now
      </button>
      <BuildAgain sync={sync} newest={newestFirst(builds)[0]} />
      {spec.paused ? (
        <button type="button" onClick={() => change({ spec: { paused: null } }, `Resumed ${metadata.name}.`)}>
          Resume
        </button>
      ) : (
        <button type="button" onClick={() => change({ spec: { paused: true } }, `Paused ${metadata.name}.`)}>
          Pause
        </button>
      )}
      <button type="button" class="danger" onClick={() => setConfirming(true)}>
        Delete
      </button>
      {isConfirming && (
        <ConfirmDelete
          kind="RemoteSync"
          name={metadata.name}
          consequence={`Its builds and their logs are deleted too. ${spec.applicationRef.name} keeps running its current image.`}
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            void notifyOutcome(remove(remoteSyncs, objectKeyOf(sync)), `Deleting ${metadata.name}.`).then(
              (outcome) => outcome === "done" && route("/builds"),
            );
          }}
        />
      )}
    </>
  );
}

/** Repeats the newest build, even a failed one. */
function BuildAgain({ sync, newest }: { sync: Stored<RemoteSync>; newest: Stored<Build> | undefined }) {
  if (newest === undefined) return null;
  const isInProgress = endOf(newest) === undefined || isRebuildRequested(newest);
  return (
    <button
      type="button"
      disabled={sync.spec.paused === true || isInProgress}
      onClick={() =>
        void notifyOutcome(
          patch(buildResource, objectKeyOf(newest), rebuildPatch()),
          `Building the commit of build ${numberOf(newest)} again.`,
        )
      }
    >
      Build again
    </button>
  );
}
