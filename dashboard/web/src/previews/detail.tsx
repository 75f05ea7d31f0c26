/** The screen of an AppPipeline. */
import { labels } from "@denrei/functions/paas/names";
import { useRoute } from "preact-iso";
import { applications, appPipelines, events, images, remoteSyncs } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { repositoryUrl } from "../builds/repository.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { DetailScreen } from "../ui/detailscreen.tsx";
import { Events } from "../ui/events.tsx";
import { Actions } from "./actions.tsx";
import { Summary } from "./facts.tsx";
import { pipelineForm } from "./form.tsx";
import { Previews } from "./previews.tsx";
import { Reports } from "./reports.tsx";

export function PipelineDetail() {
  const { params } = useRoute();
  const { namespace = "", name = "" } = params;
  const children = { namespace, labelSelector: `${labels.pipeline}=${name}` };
  const [pipelineList, imageList, eventList, applicationList, syncList] = useWatch(
    [appPipelines, { namespace, fieldSelector: `metadata.name=${name}` }],
    [images, { namespace, labelSelector: labels.remoteSync }],
    [events, { namespace }],
    [applications, children],
    [remoteSyncs, children],
  );
  return (
    <DetailScreen
      watched={pipelineList}
      form={pipelineForm}
      at={params}
      actions={(pipeline) => <Actions pipeline={pipeline} />}
    >
      {(pipeline) => {
        const url = repositoryUrl(imageList.items, pipeline.spec.base.github);
        return (
          <>
            <Previews
              pipeline={pipeline}
              url={url}
              applications={applicationList.items}
              syncs={syncList.items}
            />
            <div class="columns">
              <Summary pipeline={pipeline} url={url} />
              <Conditions of={pipeline} />
            </div>
            <Reports pipeline={pipeline} url={url} />
            <Events watched={eventList} about={new Set([pipeline.metadata.uid])} />
          </>
        );
      }}
    </DetailScreen>
  );
}
