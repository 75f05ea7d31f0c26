/** The screen of an Application. */
import { useRoute } from "preact-iso";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Application } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { applications, events, pods, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { EditObject } from "../ui/form/object.tsx";
import { Head } from "../ui/head.tsx";
import { Away, Gone, Loading, Refused } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Actions } from "./actions.tsx";
import { applicationForm } from "./form.tsx";
import { History } from "./history.tsx";
import { Logs } from "./logs.tsx";
import { Overview } from "./overview.tsx";

const tabs = [
  ["", "Overview"],
  ["logs", "Logs"],
  ["history", "History"],
  ["settings", "Settings"],
] as const;

export function ApplicationDetail() {
  const { namespace = "", name = "", tab = "" } = useRoute().params;
  const [found, running, eventList, syncs] = useWatch(
    [applications, { namespace, fieldSelector: `metadata.name=${name}` }],
    [pods, { namespace, labelSelector: `${labels.app}=${name}` }],
    [events, { namespace }],
    [remoteSyncs, { namespace }],
  );
  const app: Stored<Application> | undefined = found.items[0];
  const at = `/applications/${namespace}/${name}`;
  const builds = syncs.items.filter(({ spec }) => spec.applicationRef.name === name);
  return (
    <>
      <Head
        title={name}
        trail={["/applications", `Applications in ${namespace}`]}
        status={app && <Health of={app} />}
      >
        {app && <Actions app={app} />}
      </Head>
      {found.state === "away" && <Away message={found.error?.message} />}
      {found.state === "refused" ? (
        <Refused status={found.error?.status ?? 403} message={found.error?.message ?? ""} />
      ) : app === undefined ? (
        found.state === "loading" ? (
          <Loading />
        ) : (
          <Gone kind="Application" name={name} backTo="/applications" />
        )
      ) : (
        <>
          <Tabs at={at} tabs={tabs} current={tab} label={`About ${name}`} />
          {tab === "" && <Overview app={app} pods={running} events={eventList} builds={builds} />}
          {tab === "logs" && (
            <Logs key={app.metadata.uid} namespace={namespace} pods={running} builds={builds} />
          )}
          {tab === "history" && <History app={app} />}
          {tab === "settings" && <EditObject key={app.metadata.uid} kind={applicationForm} object={app} />}
        </>
      )}
    </>
  );
}
