/** The buttons of a RemoteSync's screen. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Build } from "@denrei/functions/paas/kinds/kpack";
import type { Stored } from "denrei/kinds";
import { objectKeyOf, patch } from "../api/objects.ts";
import { builds as buildResource, remoteSyncs } from "../api/resource.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { endOf, isRebuildRequested, newestFirst, numberOf } from "./build.ts";
import { rebuildPatch, refreshPatch } from "./patches.ts";
import { actionText as text } from "./text.ts";

export function Actions({ sync, builds }: { sync: Stored<RemoteSync>; builds: readonly Stored<Build>[] }) {
  const { metadata, spec } = sync;
  const needs = { verb: "patch", resource: remoteSyncs, namespace: metadata.namespace } as const;
  const change = (body: object, done: string) =>
    void notifyOutcome(patch(remoteSyncs, objectKeyOf(sync), body), done);
  return (
    <>
      <ActionButton
        needs={needs}
        disabled={spec.paused === true}
        onClick={() => change(refreshPatch(), text.refreshing)}
      >
        {text.refresh}
      </ActionButton>
      <BuildAgain sync={sync} newest={newestFirst(builds)[0]} />
      {spec.paused ? (
        <ActionButton
          needs={needs}
          onClick={() => change({ spec: { paused: null } }, text.resumed(metadata.name))}
        >
          {text.resume}
        </ActionButton>
      ) : (
        <ActionButton
          needs={needs}
          onClick={() => change({ spec: { paused: true } }, text.paused(metadata.name))}
        >
          {text.pause}
        </ActionButton>
      )}
      <DeleteButton
        resource={remoteSyncs}
        object={sync}
        consequence={text.consequence(spec.applicationRef.name)}
        leadsTo="/builds"
      />
    </>
  );
}

/** Repeats the newest build, even a failed one. */
function BuildAgain({ sync, newest }: { sync: Stored<RemoteSync>; newest: Stored<Build> | undefined }) {
  if (newest === undefined) return null;
  const isInProgress = endOf(newest) === undefined || isRebuildRequested(newest);
  return (
    <ActionButton
      needs={{ verb: "patch", resource: buildResource, namespace: newest.metadata.namespace }}
      disabled={sync.spec.paused === true || isInProgress}
      onClick={() =>
        void notifyOutcome(
          patch(buildResource, objectKeyOf(newest), rebuildPatch()),
          text.rebuilding(numberOf(newest)),
        )
      }
    >
      {text.rebuild}
    </ActionButton>
  );
}
