/** The buttons of an AppPipeline's screen. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { objectKeyOf, patch } from "../api/objects.ts";
import { appPipelines } from "../api/resource.ts";
import { refreshPatch } from "../builds/patches.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { notifyOutcome } from "../ui/notices.tsx";

export const Actions = ({ pipeline }: { pipeline: Stored<AppPipeline> }) => (
  <>
    <ActionButton
      needs={{ verb: "patch", resource: appPipelines, namespace: pipeline.metadata.namespace }}
      onClick={() =>
        void notifyOutcome(
          patch(appPipelines, objectKeyOf(pipeline), refreshPatch()),
          "Listing the open pull requests again.",
        )
      }
    >
      Refresh now
    </ActionButton>
    <DeleteButton
      resource={appPipelines}
      object={pipeline}
      consequence="All its previews are deleted too: their Applications, builds, and pods."
      leadsTo="/previews"
    />
  </>
);
