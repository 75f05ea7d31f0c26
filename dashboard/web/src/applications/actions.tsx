/** The buttons of an Application's screen. */

import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { objectKeyOf, remove } from "../api/objects.ts";
import { applications } from "../api/resource.ts";
import { ConfirmDelete, Dialog } from "../ui/dialog.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { deploymentsOf, restart, scale } from "./changes.ts";

export function Actions({ app }: { app: Stored<Application> }) {
  const [open, setOpen] = useState<"scale" | "delete">();
  const { route } = useLocation();
  const { name } = app.metadata;
  const close = () => setOpen(undefined);
  return (
    <>
      <button type="button" onClick={() => setOpen("scale")}>
        Scale
      </button>
      <button
        type="button"
        disabled={deploymentsOf(app).length === 0}
        onClick={() => void notifyOutcome(restart(app), `Restarting ${name}, one pod at a time.`)}
      >
        Restart
      </button>
      <button type="button" class="danger" onClick={() => setOpen("delete")}>
        Delete
      </button>
      {open === "scale" && <Scale app={app} onClose={close} />}
      {open === "delete" && (
        <ConfirmDelete
          kind="Application"
          name={name}
          consequence="Its pods stop, its resources are deleted, and its hosts no longer respond."
          onClose={close}
          onConfirm={() => {
            close();
            void notifyOutcome(remove(applications, objectKeyOf(app)), `Deleting ${name}.`).then(
              (outcome) => outcome === "done" && route("/applications"),
            );
          }}
        />
      )}
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
