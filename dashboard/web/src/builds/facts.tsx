/** The summary of a RemoteSync. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { Age } from "../ui/age.tsx";
import { Facts } from "../ui/facts.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { Commit, Followed, Source } from "./repository.tsx";

export function Summary({ sync, url }: { sync: Stored<RemoteSync>; url: string | undefined }) {
  const { metadata, spec, status } = sync;
  const { builder, image, revision } = spec;
  const application = spec.applicationRef.name;
  const env = spec.build?.env ?? [];
  return (
    <Facts
      title="Summary"
      of={[
        [
          "Application",
          <a key="application" href={`/applications/${metadata.namespace}/${application}`}>
            {application}
          </a>,
        ],
        ["Repository", <Source key="source" of={spec.base} url={url} />],
        [
          "Follows",
          <>
            <Followed sync={sync} url={url} />
            {revision !== undefined && `, ${revision === "Head" ? "its last commit" : "as merged"}`}
            {status?.baseBranch && `, targeting ${status.baseBranch}`}
          </>,
        ],
        [
          "Revision",
          status?.revision ? <Commit key="revision" sha={status.revision} url={url} /> : "not known yet",
        ],
        [
          "Newest image",
          status?.latestImage ? <ImageName key="image" of={status.latestImage} /> : "none yet",
        ],
        [
          "Image repository",
          <>
            <code>{image.name}</code>
            {image.secretName && <>, Secret {image.secretName}</>}
          </>,
        ],
        ["GitHub token", `Secret ${spec.base.github.secretName}`],
        ["Builder", builder && `${builder.kind} ${builder.name}`],
        [
          "Build variables",
          env.length > 0 &&
            env.map(({ name, value = "" }) => (
              <div key={name}>
                <code>
                  {name}={value}
                </code>
              </div>
            )),
        ],
        ["Created", <Age key="created" of={metadata.creationTimestamp} />],
      ]}
    />
  );
}
