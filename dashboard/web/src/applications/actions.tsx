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

export function Actions({ app }: { app: Stored<Application> }) {
  const [isScaling, setScaling] = useState(false);
  const { name, namespace } = app.metadata;
  return (
    <>
      <ActionButton
        needs={{ verb: "patch", resource: applications, subresource: "scale", namespace }}
        onClick={() => setScaling(true)}
      >
        Scale
      </ActionButton>
      <ActionButton
        needs={{ verb: "patch", resource: deployments, namespace }}
        disabled={deploymentsOf(app).length === 0}
        onClick={() => void notifyOutcome(restart(app), `Restarting ${name}, one pod at a time.`)}
      >
        Restart
      </ActionButton>
      <DeleteButton
        resource={applications}
        object={app}
        consequence="Its pods stop, its resources are deleted, and its hosts no longer respond."
        leadsTo="/applications"
      />
      {isScaling && <Scale app={app} onClose={() => setScaling(false)} />}
    </>
  );
}

function Scale({ app, onClose }: { app: Stored<Application>; onClose: () => void }) {
  const [replicas, setReplicas] = useState(app.spec.replicas);
  const { name } = app.metadata;
  return (
    <Dialog title={`Scale ${name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void notifyOutcome(
            scale(app, replicas),
            `Scaling ${name} to ${replicas} ${replicas === 1 ? "pod" : "pods"}.`,
          );
        }}
      >
        <label class="field">
          Number of pods
          <input
            type="number"
            min={0}
            max={100}
            required
            value={replicas}
            onInput={({ currentTarget }) => setReplicas(currentTarget.valueAsNumber)}
          />
        </label>
        {replicas === 0 && <p class="notice busy">Without pods, its hosts do not respond.</p>}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Scale
          </button>
        </div>
      </form>
    </Dialog>
  );
}
