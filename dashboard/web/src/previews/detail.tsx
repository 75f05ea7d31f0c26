/** The screen of an AppPipeline. */
import { useRoute } from "preact-iso";
import { labels } from "../../../../functions/paas/names.ts";
import { appPipelines, events, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { repositoryUrl } from "../builds/repository.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { Events } from "../ui/events.tsx";
import { EditObject } from "../ui/form/object.tsx";
import { Head } from "../ui/head.tsx";
import { Gone, Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Actions } from "./actions.tsx";
import { Board } from "./board.tsx";
import { Summary } from "./facts.tsx";
import { pipelineForm } from "./form.tsx";
import { Reports } from "./reports.tsx";

const tabs = [
  ["", "Overview"],
  ["settings", "Settings"],
] as const;

export function PipelineDetail() {
  const { namespace = "", name = "", tab = "" } = useRoute().params;
  const [found, cloned, eventList] = useWatch(
    [appPipelines, { namespace, fieldSelector: `metadata.name=${name}` }],
    [images, { namespace, labelSelector: labels.remoteSync }],
    [events, { namespace }],
  );
  const [known] = found.items;
  return (
    <>
      <Head
        title={name}
        trail={["/previews", `Previews in ${namespace}`]}
        status={known && <Health of={known} />}
      >
        {known && <Actions pipeline={known} />}
      </Head>
      <Loaded watched={found} empty={<Gone kind="AppPipeline" name={name} backTo="/previews" />}>
        {([pipeline]) => {
          if (pipeline === undefined) return null;
          const url = repositoryUrl(cloned.items, pipeline.spec.base.github);
          return (
            <div class="stack">
              <Tabs at={`/previews/${namespace}/${name}`} tabs={tabs} current={tab} label={`About ${name}`} />
              {tab === "settings" ? (
                <EditObject key={pipeline.metadata.uid} kind={pipelineForm} object={pipeline} />
              ) : (
                <>
                  <Board pipeline={pipeline} url={url} />
                  <div class="columns">
                    <Summary pipeline={pipeline} url={url} />
                    <Conditions of={pipeline} />
                  </div>
                  <Reports pipeline={pipeline} url={url} />
                  <Events watched={eventList} about={new Set([pipeline.metadata.uid])} />
                </>
              )}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}
