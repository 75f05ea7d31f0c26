/** The buttons of an AppPipeline's screen. */
import type { AppPipeline } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { objectKeyOf, patch } from "../api/objects.ts";
import { appPipelines } from "../api/resource.ts";
import { refreshPatch } from "../builds/patches.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { pipelineText as text } from "./text.ts";

export const Actions = ({ pipeline }: { pipeline: Stored<AppPipeline> }) => (
  <>
    <ActionButton
      needs={{ verb: "patch", resource: appPipelines, namespace: pipeline.metadata.namespace }}
      onClick={() =>
        void notifyOutcome(patch(appPipelines, objectKeyOf(pipeline), refreshPatch()), text.refreshing)
      }
    >
      {text.refresh}
    </ActionButton>
    <DeleteButton resource={appPipelines} object={pipeline} consequence={text.deletes} leadsTo="/previews" />
  </>
);
