/** The summary of a RemoteSync. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { Age } from "../ui/age.tsx";
import { Commit, Followed, Named } from "./repository.tsx";

export function Facts({ sync, url }: { sync: Stored<RemoteSync>; url: string | undefined }) {
  const { metadata, spec, status } = sync;
  const { owner, repo, secretName } = spec.base.github;
  const application = spec.applicationRef.name;
  const env = spec.build?.env ?? [];
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">Summary</h2>
      </header>
      <dl class="facts">
        <dt>Application</dt>
        <dd>
          <a href={`/applications/${metadata.namespace}/${application}`}>{application}</a>
        </dd>
        <dt>Repository</dt>
        <dd>
          <Named to={url}>{`${owner}/${repo}`}</Named>
          {spec.base.subPath && (
            <>
              , folder <code>{spec.base.subPath}</code>
            </>
          )}
        </dd>
        <dt>Follows</dt>
        <dd>
          <Followed sync={sync} url={url} />
          {spec.revision !== undefined && `, ${spec.revision === "Head" ? "its last commit" : "as merged"}`}
          {status?.baseBranch && `, targeting ${status.baseBranch}`}
        </dd>
        <dt>Revision</dt>
        <dd>{status?.revision ? <Commit sha={status.revision} url={url} /> : "not known yet"}</dd>
        <dt>Newest image</dt>
        <dd>{status?.latestImage ? <code>{status.latestImage}</code> : "none yet"}</dd>
        <dt>Image repository</dt>
        <dd>
          <code>{spec.image.name}</code>
          {spec.image.secretName && <>, Secret {spec.image.secretName}</>}
        </dd>
        <dt>GitHub token</dt>
        <dd>Secret {secretName}</dd>
        {spec.builder && (
          <>
            <dt>Builder</dt>
            <dd>
              {spec.builder.kind} {spec.builder.name}
            </dd>
          </>
        )}
        {env.length > 0 && (
          <>
            <dt>Build variables</dt>
            <dd>
              {env.map(({ name, value = "" }) => (
                <div key={name}>
                  <code>
                    {name}={value}
                  </code>
                </div>
              ))}
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Age of={metadata.creationTimestamp} />
        </dd>
      </dl>
    </section>
  );
}
