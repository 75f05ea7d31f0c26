/** The buttons of an AppPipeline's screen. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { objectKeyOf, patch, remove } from "../api/objects.ts";
import { appPipelines } from "../api/resource.ts";
import { refreshPatch } from "../builds/patches.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { notifyOutcome } from "../ui/notices.tsx";

export function Actions({ pipeline }: { pipeline: Stored<AppPipeline> }) {
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  const { name } = pipeline.metadata;
  return (
    <>
      <button
        type="button"
        onClick={() =>
          void notifyOutcome(
            patch(appPipelines, objectKeyOf(pipeline), refreshPatch()),
            "Listing the open pull requests again.",
          )
        }
      >
        Refresh now
      </button>
      <button type="button" class="danger" onClick={() => setConfirming(true)}>
        Delete
      </button>
      {isConfirming && (
        <ConfirmDelete
          kind="AppPipeline"
          name={name}
          consequence="All its previews are deleted too: their Applications, builds, and pods."
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            void notifyOutcome(remove(appPipelines, objectKeyOf(pipeline)), `Deleting ${name}.`).then(
              (outcome) => outcome === "done" && route("/previews"),
            );
          }}
        />
      )}
    </>
  );
}
