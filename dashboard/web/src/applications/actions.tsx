/** The buttons of an Application's screen. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { applications, deployments } from "../api/resource.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { deploymentsOf, restart, scale } from "./changes.ts";
import { actionText as text } from "./text.ts";

export function Actions({ app }: { app: Stored<Application> }) {
  const [isScaling, setScaling] = useState(false);
  const { name, namespace } = app.metadata;
  return (
    <>
      <ActionButton
        needs={{ verb: "patch", resource: applications, subresource: "scale", namespace }}
        onClick={() => setScaling(true)}
      >
        {text.scale}
      </ActionButton>
      <ActionButton
        needs={{ verb: "patch", resource: deployments, namespace }}
        unavailable={deploymentsOf(app).length === 0 ? text.nothingToRestart : undefined}
        onClick={() => void notifyOutcome(restart(app), text.restarting(name))}
      >
        {text.restart}
      </ActionButton>
      <DeleteButton resource={applications} object={app} consequence={text.deletes} leadsTo="/applications" />
      {isScaling && <Scale app={app} onClose={() => setScaling(false)} />}
    </>
  );
}

function Scale({ app, onClose }: { app: Stored<Application>; onClose: () => void }) {
  const [replicas, setReplicas] = useState(app.spec.replicas);
  const { name } = app.metadata;
  return (
    <Dialog title={text.scaleTitle(name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void notifyOutcome(scale(app, replicas), text.scaling(name, replicas));
        }}
      >
        <label class="field">
          {text.podCount}
          <input
            type="number"
            min={0}
            max={100}
            required
            value={replicas}
            onInput={({ currentTarget }) => setReplicas(currentTarget.valueAsNumber)}
          />
        </label>
        {replicas === 0 && <p class="notice busy">{text.noPods}</p>}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" class="primary">
            {text.scale}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
