/** The buttons of an AppPipeline's screen. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { AppPipeline } from "../../../../functions/paas/kinds.ts";
import { patch, placeOf, remove } from "../api/objects.ts";
import { appPipelines } from "../api/resource.ts";
import { refreshed } from "../builds/patches.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { doing } from "../ui/doing.ts";

export function Actions({ pipeline }: { pipeline: Stored<AppPipeline> }) {
  const [isAsked, setAsked] = useState(false);
  const { route } = useLocation();
  const { name } = pipeline.metadata;
  return (
    <>
      <button
        type="button"
        onClick={() =>
          void doing(
            patch(appPipelines, placeOf(pipeline), refreshed()),
            "Listing the open pull requests again.",
          )
        }
      >
        Refresh now
      </button>
      <button type="button" class="danger" onClick={() => setAsked(true)}>
        Delete
      </button>
      {isAsked && (
        <ConfirmDelete
          kind="AppPipeline"
          name={name}
          consequence="All its previews are deleted too: their Applications, builds, and pods."
          onClose={() => setAsked(false)}
          onConfirm={() => {
            setAsked(false);
            void doing(remove(appPipelines, placeOf(pipeline)), `Deleting ${name}.`).then(
              (outcome) => outcome === "done" && route("/previews"),
            );
          }}
        />
      )}
    </>
  );
}
