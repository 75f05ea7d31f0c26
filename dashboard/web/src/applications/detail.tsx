/** The screen of an Application. */
import { labels } from "@denrei/functions/paas/names";
import { useRoute } from "preact-iso";
import { applications, events, pods, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { DetailScreen } from "../ui/detailscreen.tsx";
import { Actions } from "./actions.tsx";
import { childrenOf, childSelections } from "./children.ts";
import { applicationForm } from "./form.tsx";
import { History } from "./history.tsx";
import { Logs } from "./logs.tsx";
import { Overview } from "./overview.tsx";
import { tabText } from "./text.ts";

const tabs = [
  ["logs", tabText.logs],
  ["history", tabText.history],
] as const;

export function ApplicationDetail() {
  const { params } = useRoute();
  const { namespace = "", name = "", tab = "" } = params;
  const [appList, podList, eventList, syncList, ...childLists] = useWatch(
    [applications, { namespace, fieldSelector: `metadata.name=${name}` }],
    [pods, { namespace, labelSelector: `${labels.app}=${name}` }],
    [events, { namespace }],
    [remoteSyncs, { namespace }],
    ...childSelections(namespace, name),
  );
  const builds = syncList.items.filter(({ spec }) => spec.applicationRef.name === name);
  return (
    <DetailScreen
      watched={appList}
      form={applicationForm}
      at={params}
      tabs={tabs}
      actions={(app) => <Actions app={app} />}
    >
      {(app) => (
        <>
          {tab === "" && (
            <Overview
              app={app}
              pods={podList}
              events={eventList}
              builds={{ ...syncList, items: builds }}
              objects={childrenOf(app, childLists)}
            />
          )}
          {tab === "logs" && (
            <Logs key={app.metadata.uid} namespace={namespace} app={name} pods={podList} builds={builds} />
          )}
          {tab === "history" && <History app={app} />}
        </>
      )}
    </DetailScreen>
  );
}
