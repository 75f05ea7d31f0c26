/** The screen of an AppPipeline. */
import { labels } from "@denrei/functions/paas/names";
import { useRoute } from "preact-iso";
import { appPipelines, events, images } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { repositoryUrl } from "../builds/repository.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { DetailScreen } from "../ui/detailscreen.tsx";
import { Events } from "../ui/events.tsx";
import { Actions } from "./actions.tsx";
import { Board } from "./board.tsx";
import { Summary } from "./facts.tsx";
import { pipelineForm } from "./form.tsx";
import { Reports } from "./reports.tsx";

export function PipelineDetail() {
  const { params } = useRoute();
  const { namespace = "", name = "" } = params;
  const [pipelineList, imageList, eventList] = useWatch(
    [appPipelines, { namespace, fieldSelector: `metadata.name=${name}` }],
    [images, { namespace, labelSelector: labels.remoteSync }],
    [events, { namespace }],
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
            <Board pipeline={pipeline} url={url} />
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
