/** What can be done with a RemoteSync. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Build } from "../../../../functions/paas/kinds/kpack.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { patch, placeOf, remove } from "../api/objects.ts";
import { builds as buildResource, remoteSyncs } from "../api/resource.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { doing } from "../ui/doing.ts";
import { endOf, isAskedAgain, newestFirst, numberOf } from "./build.ts";
import { rebuilt, refreshed } from "./refresh.ts";

/** The buttons. */
export function Actions({ sync, builds }: { sync: Stored<RemoteSync>; builds: readonly Stored<Build>[] }) {
  const [asked, setAsked] = useState(false);
  const { route } = useLocation();
  const { metadata, spec } = sync;
  const change = (body: object, done: string) => void doing(patch(remoteSyncs, placeOf(sync), body), done);
  return (
    <>
      <button
        type="button"
        disabled={spec.paused === true}
        onClick={() => change(refreshed(), "GitHub is asked again. A newer commit is built.")}
      >
        Refresh now
      </button>
      <BuildAgain sync={sync} newest={newestFirst(builds)[0]} />
      {spec.paused ? (
        <button type="button" onClick={() => change({ spec: { paused: null } }, `${metadata.name} goes on.`)}>
          Resume
        </button>
      ) : (
        <button
          type="button"
          onClick={() => change({ spec: { paused: true } }, `${metadata.name} is paused.`)}
        >
          Pause
        </button>
      )}
      <button type="button" class="danger" onClick={() => setAsked(true)}>
        Delete
      </button>
      {asked && (
        <ConfirmDelete
          kind="RemoteSync"
          name={metadata.name}
          consequence={`Its builds and their logs go with it. ${spec.applicationRef.name} runs on with the image that it has.`}
          onClose={() => setAsked(false)}
          onConfirm={() => {
            setAsked(false);
            void doing(remove(remoteSyncs, placeOf(sync)), `${metadata.name} is deleted.`).then(
              (outcome) => outcome === "done" && route("/builds"),
            );
          }}
        />
      )}
    </>
  );
}

/** What is built again is what was built last, also where that has failed. */
function BuildAgain({ sync, newest }: { sync: Stored<RemoteSync>; newest: Stored<Build> | undefined }) {
  if (newest === undefined) return null;
  const isUnderWay = endOf(newest) === undefined || isAskedAgain(newest);
  return (
    <button
      type="button"
      disabled={sync.spec.paused === true || isUnderWay}
      onClick={() =>
        void doing(
          patch(buildResource, placeOf(newest), rebuilt()),
          `The commit of build ${numberOf(newest)} is built again.`,
        )
      }
    >
      Build again
    </button>
  );
}
