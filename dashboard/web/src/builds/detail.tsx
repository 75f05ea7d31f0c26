/** The screen of a RemoteSync. */
import { useRoute } from "preact-iso";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { builds, events, images, pods, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Conditions } from "../ui/conditions.tsx";
import { Events } from "../ui/events.tsx";
import { EditObject } from "../ui/form/object.tsx";
import { Head } from "../ui/head.tsx";
import { Gone, Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Actions } from "./actions.tsx";
import { Builds } from "./builds.tsx";
import { Summary } from "./facts.tsx";
import { LastFailure } from "./failure.tsx";
import { remoteSyncForm } from "./form.tsx";
import { repositoryUrl } from "./repository.tsx";

const tabs = [
  ["", "Overview"],
  ["settings", "Settings"],
] as const;

export function RemoteSyncDetail() {
  const { params, query } = useRoute();
  const { namespace = "", name = "", tab = "" } = params;
  const own = { namespace, labelSelector: `${labels.remoteSync}=${name}` };
  const [found, made, running, cloned, eventList] = useWatch(
    [remoteSyncs, { namespace, fieldSelector: `metadata.name=${name}` }],
    [builds, own],
    [pods, own],
    [images, own],
    [events, { namespace }],
  );
  const at = `/builds/${namespace}/${name}`;
  const about = (sync: Stored<RemoteSync>) =>
    new Set([sync, ...made.items, ...running.items, ...cloned.items].map(({ metadata }) => metadata.uid));
  const hasPod = (build: string | undefined) => {
    const podName = made.items.find(({ metadata }) => metadata.name === build)?.status?.podName;
    return running.items.some(({ metadata }) => metadata.name === podName);
  };
  const [known] = found.items;
  return (
    <>
      <Head
        title={name}
        trail={["/builds", `Builds in ${namespace}`]}
        status={known && <Health of={known} />}
      >
        {known && <Actions sync={known} builds={made.items} />}
      </Head>
      <Loaded watched={found} empty={<Gone kind="RemoteSync" name={name} backTo="/builds" />}>
        {([sync]) =>
          sync && (
            <div class="stack">
              <Tabs at={at} tabs={tabs} current={tab} label={`About ${name}`} />
              {tab === "settings" ? (
                <EditObject key={sync.metadata.uid} kind={remoteSyncForm} object={sync} />
              ) : (
                <>
                  <div class="columns">
                    <Summary sync={sync} url={repositoryUrl(cloned.items, sync.spec.base.github)} />
                    <Conditions of={sync} />
                  </div>
                  <LastFailure
                    sync={sync}
                    log={hasPod(sync.status?.lastFailure?.build) ? "folded" : "shown"}
                  />
                  <Builds
                    sync={sync}
                    builds={made}
                    pods={running}
                    url={repositoryUrl(cloned.items, sync.spec.base.github)}
                    selected={query.build}
                  />
                  <Events watched={eventList} about={about(sync)} />
                </>
              )}
            </div>
          )
        }
      </Loaded>
    </>
  );
}
