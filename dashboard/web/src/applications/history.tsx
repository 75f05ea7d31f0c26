/** The images that an Application has run, and rollbacks to them. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { applications } from "../api/resource.ts";
import { historyAddress } from "../bus/addresses.ts";
import { Age } from "../ui/age.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { notifyOutcome } from "../ui/notices.tsx";
import { Status } from "../ui/status.tsx";
import { rollBack, unpin } from "./changes.ts";

/** The history tab. */
export function History({ app }: { app: Stored<Application> }) {
  const [image, setImage] = useState<string>();
  const { metadata, spec } = app;
  return (
    <div class="stack">
      {spec.pinnedImage !== undefined && <Pinned app={app} image={spec.pinnedImage} />}
      <Images app={app} onRollBack={setImage} />
      <p>
        <a
          href={historyAddress({ ...applications, namespace: metadata.namespace ?? "", name: metadata.name })}
        >
          Show its history on the bus
        </a>
      </p>
      {image !== undefined && <RollBack app={app} image={image} onClose={() => setImage(undefined)} />}
    </div>
  );
}

function Pinned({ app, image }: { app: Stored<Application>; image: string }) {
  return (
    <div class="notice busy row">
      <span>
        Pinned to <code>{image}</code>. Newer builds are not deployed.
      </span>
      <button
        type="button"
        onClick={() => void notifyOutcome(unpin(app), `Deploying the newest image of ${app.metadata.name}.`)}
      >
        Deploy the newest image
      </button>
    </div>
  );
}

function Images({ app: { status }, onRollBack }: { app: Application; onRollBack: (image: string) => void }) {
  const history = status?.history ?? [];
  if (history.length === 0)
    return (
      <div class="empty">
        <h2>No images yet</h2>
        <p>Images that ran on all pods appear here. You can roll back to any of them.</p>
      </div>
    );
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>Image</th>
            <th>Revision</th>
            <th>Since</th>
            <th>
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {history.map(({ image, revision, time }) => (
            <tr key={`${image} ${time}`}>
              <th scope="row" data-label="Image">
                <code>{image}</code>
              </th>
              <td data-label="Revision">{revision && <code>{revision.slice(0, 12)}</code>}</td>
              <td data-label="Since">
                <Age of={time} />
              </td>
              <td>
                {image === status?.currentImage ? (
                  <Status tone="good">Running</Status>
                ) : (
                  <button type="button" onClick={() => onRollBack(image)}>
                    Roll back
                    <span class="unseen"> to {image}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RollBack({ app, image, onClose }: { app: Stored<Application>; image: string; onClose: () => void }) {
  const { name } = app.metadata;
  return (
    <Dialog title={`Roll ${name} back?`} onClose={onClose}>
      <div class="stack">
        <p>
          Its pods will run <code>{image}</code>, one at a time. Newer builds are not deployed until you
          deploy the newest image.
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            onClick={() => {
              onClose();
              void notifyOutcome(rollBack(app, image), `Rolling ${name} back.`);
            }}
          >
            Roll back
          </button>
        </div>
      </div>
    </Dialog>
  );
}
