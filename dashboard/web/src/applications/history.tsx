/** The images that an Application has run, and rollbacks to them. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import type { Action } from "../api/access.ts";
import { applications } from "../api/resource.ts";
import { historyAddress } from "../bus/addresses.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { Age } from "../ui/age.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { shortImage } from "../ui/images.ts";
import { notifyOutcome } from "../ui/notices.tsx";
import { Status } from "../ui/status.tsx";
import { rollBack, unpin } from "./changes.ts";
import { imageText as text } from "./text.ts";

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
          {text.busHistory}
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
        {text.pinnedTo} <ImageName of={image} />. {text.othersNotDeployed}
      </span>
      <DeployNewest app={app} />
    </div>
  );
}

const patching = ({ metadata }: Stored<Application>): Action => ({
  verb: "patch",
  resource: applications,
  namespace: metadata.namespace,
});

/** A button that ends the pin of a rollback. */
export function DeployNewest({ app }: { app: Stored<Application> }) {
  return (
    <ActionButton
      needs={patching(app)}
      onClick={() => void notifyOutcome(unpin(app), text.deployingNewest(app.metadata.name))}
    >
      {text.deployNewest}
    </ActionButton>
  );
}

function Images({ app, onRollBack }: { app: Stored<Application>; onRollBack: (image: string) => void }) {
  const { spec, status } = app;
  const history = status?.history ?? [];
  if (history.length === 0)
    return (
      <div class="empty">
        <h2>{text.none}</h2>
        <p>{text.noneYet}</p>
      </div>
    );
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>{text.columns.image}</th>
            <th>{text.columns.revision}</th>
            <th>{text.columns.since}</th>
            <th>
              <span class="unseen">{text.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {history.map(({ image, revision, time }) => (
            <tr key={`${image} ${time}`}>
              <th scope="row" data-label={text.columns.image}>
                <ImageName of={image} />
              </th>
              <td data-label={text.columns.revision}>
                {revision && <code title={revision}>{revision.slice(0, 7)}</code>}
              </td>
              <td data-label={text.columns.since}>
                <Age of={time} />
              </td>
              <td>
                {image === status?.currentImage ? (
                  <Status tone="good">{text.running}</Status>
                ) : spec.pinnedImage !== undefined && image === spec.image ? (
                  <DeployNewest app={app} />
                ) : (
                  <ActionButton needs={patching(app)} onClick={() => onRollBack(image)}>
                    {/* While an older image is pinned, another one may be newer or older. */}
                    {spec.pinnedImage === undefined ? text.rollBack : text.deploy}
                    <span class="unseen">
                      {spec.pinnedImage === undefined
                        ? text.rollBackTo(shortImage(image))
                        : ` ${shortImage(image)}`}
                    </span>
                  </ActionButton>
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
  const isPinned = app.spec.pinnedImage !== undefined;
  return (
    <Dialog title={isPinned ? text.deployTitle(name) : text.rollBackTitle(name)} onClose={onClose}>
      <div class="stack">
        <p>
          {text.podsWillRun} <code>{image}</code>
          {text.oneAtATime}
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button
            type="button"
            class="primary"
            onClick={() => {
              onClose();
              void notifyOutcome(rollBack(app, image), text.deploying(image));
            }}
          >
            {isPinned ? text.deploy : text.rollBack}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
