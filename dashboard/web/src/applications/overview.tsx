/** The state of an Application: summary, conditions, pods, resources, and events. */
import type { Application, RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import type { EventObject, PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { Differences } from "../ui/differences/differences.tsx";
import { Events } from "../ui/events.tsx";
import { Facts } from "../ui/facts.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { OutLink } from "../ui/link.tsx";
import { Pods } from "../ui/pods.tsx";
import { Health } from "../ui/status.tsx";
import type { TreeNode } from "../ui/tree/node.ts";
import { text as treeText } from "../ui/tree/text.ts";
import { Tree } from "../ui/tree/tree.tsx";
import { useUsage } from "../ui/usage.ts";
import { deploymentsOf } from "./changes.ts";
import type { Child } from "./children.ts";
import { driftOf } from "./drift.ts";
import { DeployNewest } from "./history.tsx";
import { driftText, imageText, overviewText as text } from "./text.ts";
import { treeOf } from "./tree.ts";

/** The overview tab. */
export function Overview({
  app,
  pods,
  events,
  builds,
  objects,
}: {
  app: Stored<Application>;
  pods: Watched<PodObject>;
  events: Watched<EventObject>;
  builds: Watched<RemoteSync>;
  objects: readonly Child[];
}) {
  const { status, metadata } = app;
  const usage = useUsage(metadata.namespace ?? "", `${labels.app}=${metadata.name}`);
  const about = new Set([
    metadata.uid,
    ...pods.items.map((pod) => pod.metadata.uid),
    ...builds.items.map((build) => build.metadata.uid),
    ...(status?.resources ?? []).flatMap(({ uid }) => (uid ? [uid] : [])),
  ]);
  return (
    <div class="stack">
      <div class="columns">
        <Summary app={app} builds={builds} />
        <Conditions of={app} />
      </div>
      <Differences of={driftOf(app, objects, pods.items)}>
        {app.spec.pinnedImage !== undefined && (
          <p>
            {driftText.pinned} <ImageName of={app.spec.pinnedImage} />
          </p>
        )}
      </Differences>
      <Pods watched={pods} usage={usage} />
      <div class="columns">
        <Resources of={treeOf(app, { builds: builds.items, children: objects, pods: pods.items })} />
        <Events watched={events} about={about} deployments={deploymentsOf(app)} />
      </div>
    </div>
  );
}

function Summary({ app, builds }: { app: Stored<Application>; builds: Watched<RemoteSync> }) {
  const { spec, status, metadata } = app;
  const urls = status?.urls ?? [];
  const image = status?.currentImage || spec.image;
  return (
    <Facts
      title={text.summary}
      of={[
        [
          text.address,
          urls.length === 0
            ? spec.domains.join(", ")
            : urls.map((url) => (
                <div key={url}>
                  <OutLink to={url} />
                </div>
              )),
        ],
        [
          text.image,
          <>
            {image ? <ImageName of={image} /> : text.noImage}
            {spec.pinnedImage !== undefined && (
              <div class="row">
                <span class="quiet small">
                  {imageText.pinnedTo} <code>{spec.pinnedImage}</code>. {imageText.othersNotDeployed}
                </span>
                <DeployNewest app={app} />
              </div>
            )}
          </>,
        ],
        [text.pods, text.podsReady(status?.readyReplicas ?? 0, spec.replicas)],
        [
          text.builtFrom,
          builds.items.length === 0
            ? sourceWithoutBuilds(builds)
            : builds.items.map((build) => (
                <span class="row" key={build.metadata.uid}>
                  <a href={`/builds/${build.metadata.namespace}/${build.metadata.name}`}>
                    {build.spec.base.github.owner}/{build.spec.base.github.repo}
                  </a>
                  <Health of={build} />
                </span>
              )),
        ],
        [text.created, <Age key="created" of={metadata.creationTimestamp} />],
      ]}
    />
  );
}

/** An empty list means that nothing builds the image only if the list was received. */
function sourceWithoutBuilds({ state, asOf }: Watched): string {
  if (asOf !== undefined) return text.noRepository;
  return state === "refused" ? text.buildsForbidden : text.buildsUnknown;
}

function Resources({ of: root }: { of: TreeNode }) {
  return (
    <section class="card" aria-labelledby="resources">
      <header>
        <h2 id="resources">{treeText.title}</h2>
      </header>
      <Tree root={root} />
    </section>
  );
}
