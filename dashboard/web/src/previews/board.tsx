/** A board of previews with a column per phase. */
import type { AppPipeline, Preview } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useId } from "preact/hooks";
import { appendPath, Commit, OptionalLink } from "../builds/repository.tsx";
import { Age } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { humanize, Status, type Tone } from "../ui/status.tsx";

const columns: readonly (readonly [name: string, phases: readonly Preview["phase"][]])[] = [
  ["Waiting", ["Waiting", "NeedsApproval", "Expired"]],
  ["Building", ["Resolving", "Building"]],
  ["Deploying", ["Deploying"]],
  ["Ready", ["Ready"]],
  ["Failed", ["Failed"]],
];

const tones: Readonly<Record<Preview["phase"], Tone>> = {
  Waiting: "off",
  NeedsApproval: "busy",
  Expired: "off",
  Resolving: "busy",
  Building: "busy",
  Deploying: "busy",
  Ready: "good",
  Failed: "bad",
};

interface Shown {
  readonly pipeline: Stored<AppPipeline>;
  readonly url: string | undefined;
}

export function Board({ pipeline, url }: Shown) {
  const { spec, status } = pipeline;
  const previews = status?.previews;
  const { owner, repo } = spec.base.github;
  return (
    <section class="stack" aria-labelledby="previews">
      <h2 id="previews">Pull requests</h2>
      {!previews?.length ? (
        <p class="empty">
          {previews === undefined
            ? "The open pull requests have not been listed yet."
            : `No open pull request of ${owner}/${repo} matches the filter. New ones appear here.`}
        </p>
      ) : (
        <div class="board">
          {columns.map(([name, phases]) => (
            <Column
              key={name}
              name={name}
              previews={previews.filter(({ phase }) => phases.includes(phase))}
              pipeline={pipeline}
              url={url}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function Column({ name, previews, ...shown }: Shown & { name: string; previews: readonly Preview[] }) {
  const id = useId();
  return (
    <section aria-labelledby={id} data-empty={previews.length === 0 || undefined}>
      <h3 id={id}>
        {name} <span>{previews.length}</span>
      </h3>
      {previews.length > 0 && (
        <ul class="plain">
          {previews.map((preview) => (
            <Card key={preview.number} preview={preview} {...shown} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Card({ preview, pipeline: { metadata }, url }: Shown & { preview: Preview }) {
  const { number, phase, headRef, headSHA, approvedSHA, fork, since, message, application } = preview;
  const isBehind = approvedSHA !== undefined && approvedSHA !== headSHA;
  return (
    <li class="preview">
      <div class="row">
        <strong>
          <OptionalLink to={appendPath(url, `pull/${number}`)}>{`#${number}`}</OptionalLink>
        </strong>
        <Status tone={tones[phase]}>{humanize(phase)}</Status>
      </div>
      {preview.url && phase === "Ready" && <OutLink to={preview.url} />}
      <p class="small">
        {headRef && <code>{headRef}</code>} <Commit sha={approvedSHA ?? headSHA} url={url} />
      </p>
      {fork && <p class="small quiet">from a fork: {fork}</p>}
      {isBehind && (
        <p class="small">
          The newer commit <Commit sha={headSHA} url={url} /> is not approved yet.
        </p>
      )}
      {message && <p class="small message">{message}</p>}
      {preview.warning && <p class="small message">{preview.warning}</p>}
      <p class="small quiet">
        <Age of={since} />
      </p>
      {application && (
        <p class="small row">
          <a href={`/applications/${metadata.namespace}/${application}`}>
            Application<span class="unseen"> of #{number}</span>
          </a>
          <a href={`/builds/${metadata.namespace}/${application}`}>
            Build<span class="unseen"> of #{number}</span>
          </a>
        </p>
      )}
    </li>
  );
}
