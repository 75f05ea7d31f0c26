/** The builds of a RemoteSync, of which one is shown step by step. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Build } from "../../../../functions/paas/kinds/kpack.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import type { PodObject } from "../api/others.ts";
import type { Watched } from "../api/watch.ts";
import { Age, Lasting } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { Loaded } from "../ui/states.tsx";
import { conditionsOf, Status } from "../ui/status.tsx";
import { digestOf, endOf, newestFirst, numberOf, reasonOf, resultOf } from "./build.ts";
import { Commit } from "./repository.tsx";
import { Steps } from "./steps.tsx";

interface Shown {
  readonly sync: Stored<RemoteSync>;
  readonly builds: Watched<Build>;
  readonly pods: Watched<PodObject>;
  readonly url: string | undefined;
  /** The number of the one that somebody looks at; the newest unless given. */
  readonly selected: string | undefined;
}

/** The list, and the steps of one of them. */
export function Builds({ sync, builds, pods, url, selected }: Shown) {
  return (
    <section class="card" aria-labelledby="builds">
      <header>
        <h2 id="builds">Builds</h2>
      </header>
      {builds.state === "refused" && builds.trouble?.status === 404 ? (
        <p>
          kpack is not installed in this cluster, so nothing can be built.{" "}
          <OutLink to="https://github.com/buildpacks-community/kpack">How it is installed</OutLink>
        </p>
      ) : (
        <Loaded watched={builds} empty={<Nothing sync={sync} />}>
          {(items) => {
            const sorted = newestFirst(items);
            const shown = sorted.find((build) => String(numberOf(build)) === selected) ?? sorted[0];
            return (
              <>
                <Table builds={sorted} shown={shown} url={url} sync={sync} />
                {shown && <Steps key={shown.metadata.uid} build={shown} pods={pods} />}
              </>
            );
          }}
        </Loaded>
      )}
    </section>
  );
}

function Nothing({ sync }: { sync: RemoteSync }) {
  const why = conditionsOf(sync).find(({ type, status }) => type === "Ready" && status !== "True");
  return (
    <>
      <h3>Nothing was built yet</h3>
      <p>{why?.message || "A build begins when the commit is known."}</p>
    </>
  );
}

function Table({
  builds,
  shown,
  url,
  sync: { metadata },
}: {
  builds: readonly Stored<Build>[];
  shown: Stored<Build> | undefined;
  url: string | undefined;
  sync: Stored<RemoteSync>;
}) {
  const at = `/builds/${metadata.namespace}/${metadata.name}`;
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Build</th>
            <th scope="col">Result</th>
            <th scope="col">Reason</th>
            <th scope="col">Revision</th>
            <th scope="col">Duration</th>
            <th scope="col">Image</th>
            <th scope="col">Begun</th>
          </tr>
        </thead>
        <tbody>
          {builds.map((build) => {
            const [tone, word] = resultOf(build);
            const isShown = build === shown;
            return (
              <tr key={build.metadata.uid} aria-current={isShown || undefined}>
                <th scope="row" data-label="Build">
                  <span>
                    <a href={`${at}?build=${numberOf(build)}`} aria-current={isShown || undefined}>
                      #{numberOf(build)}
                      <span class="unseen"> step by step</span>
                    </a>
                  </span>
                </th>
                <td data-label="Result">
                  <Status tone={tone}>{word}</Status>
                </td>
                <td data-label="Reason">{reasonOf(build)}</td>
                <td data-label="Revision">
                  <Commit sha={build.spec.source?.git?.revision} url={url} />
                </td>
                <td data-label="Duration">
                  <Lasting from={build.metadata.creationTimestamp} to={endOf(build)} />
                </td>
                <td data-label="Image">
                  <Digest image={build.status?.latestImage} />
                </td>
                <td data-label="Begun">
                  <Age of={build.metadata.creationTimestamp} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Digest({ image }: { image: string | undefined }) {
  const digest = digestOf(image);
  return digest === "" ? null : <code title={image}>{digest.slice(0, "sha256:".length + 12)}</code>;
}
