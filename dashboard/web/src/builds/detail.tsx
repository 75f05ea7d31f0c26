/** The screen of a RemoteSync. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { useRoute } from "preact-iso";
import { builds, events, images, pods, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Conditions } from "../ui/conditions.tsx";
import { DetailScreen } from "../ui/detailscreen.tsx";
import { Events } from "../ui/events.tsx";
import { Actions } from "./actions.tsx";
import { Builds } from "./builds.tsx";
import { Summary } from "./facts.tsx";
import { LastFailure } from "./failure.tsx";
import { remoteSyncForm } from "./form.tsx";
import { repositoryUrl } from "./repository.tsx";

export function RemoteSyncDetail() {
  const { params, query } = useRoute();
  const { namespace = "", name = "" } = params;
  const ofSync = { namespace, labelSelector: `${labels.remoteSync}=${name}` };
  const [syncList, buildList, podList, imageList, eventList] = useWatch(
    [remoteSyncs, { namespace, fieldSelector: `metadata.name=${name}` }],
    [builds, ofSync],
    [pods, ofSync],
    [images, ofSync],
    [events, { namespace }],
  );
  const about = (sync: Stored<RemoteSync>) =>
    new Set(
      [sync, ...buildList.items, ...podList.items, ...imageList.items].map(({ metadata }) => metadata.uid),
    );
  const hasPod = (build: string | undefined) => {
    const podName = buildList.items.find(({ metadata }) => metadata.name === build)?.status?.podName;
    return podList.items.some(({ metadata }) => metadata.name === podName);
  };
  const urlOf = ({ spec }: RemoteSync) => repositoryUrl(imageList.items, spec.base.github);
  return (
    <DetailScreen
      watched={syncList}
      form={remoteSyncForm}
      at={params}
      actions={(sync) => <Actions sync={sync} builds={buildList.items} />}
    >
      {(sync) => (
        <>
          <div class="columns">
            <Summary sync={sync} url={urlOf(sync)} />
            <Conditions of={sync} />
          </div>
          <LastFailure sync={sync} log={hasPod(sync.status?.lastFailure?.build) ? "folded" : "shown"} />
          <Builds sync={sync} builds={buildList} pods={podList} url={urlOf(sync)} selected={query.build} />
          <Events watched={eventList} about={about(sync)} />
        </>
      )}
    </DetailScreen>
  );
}
