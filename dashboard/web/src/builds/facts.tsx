/** The summary of a RemoteSync. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { Age } from "../ui/age.tsx";
import { Facts } from "../ui/facts.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { Commit, Followed, Source } from "./repository.tsx";
import { factText as text } from "./text.ts";

export function Summary({ sync, url }: { sync: Stored<RemoteSync>; url: string | undefined }) {
  const { metadata, spec, status } = sync;
  const { builder, image, revision } = spec;
  const application = spec.applicationRef.name;
  const env = spec.build?.env ?? [];
  return (
    <Facts
      title={text.title}
      of={[
        [
          text.application,
          <a key="application" href={`/applications/${metadata.namespace}/${application}`}>
            {application}
          </a>,
        ],
        [text.repository, <Source key="source" of={spec.base} url={url} />],
        [
          text.source,
          <>
            <Followed sync={sync} url={url} />
            {revision !== undefined && text.commits[revision]}
            {status?.baseBranch && text.target(status.baseBranch)}
          </>,
        ],
        [
          text.revision,
          status?.revision ? <Commit key="revision" sha={status.revision} url={url} /> : text.noRevision,
        ],
        [text.image, status?.latestImage ? <ImageName key="image" of={status.latestImage} /> : text.noImage],
        [
          text.imageRepository,
          <>
            <code>{image.name}</code>
            {image.secretName && text.imageSecret(image.secretName)}
          </>,
        ],
        [text.token, text.secret(spec.base.github.secretName)],
        [text.builder, builder && `${builder.kind} ${builder.name}`],
        [
          text.variables,
          env.length > 0 &&
            env.map(({ name, value = "" }) => (
              <div key={name}>
                <code>
                  {name}={value}
                </code>
              </div>
            )),
        ],
        [text.created, <Age key="created" of={metadata.creationTimestamp} />],
      ]}
    />
  );
}
