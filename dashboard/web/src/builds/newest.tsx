/** The newest build of a RemoteSync, where something else is looked at. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { labels } from "../../../../functions/paas/names.ts";
import { builds, pods } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Loaded } from "../ui/states.tsx";
import { newestFirst } from "./build.ts";
import { Steps } from "./steps.tsx";

/** Its steps, each with its log, and the way to the builds before it. */
export function NewestBuild({ of: { metadata } }: { of: Stored<RemoteSync> }) {
  const { namespace, name } = metadata;
  const own = { namespace, labelSelector: `${labels.remoteSync}=${name}` };
  const [made, running] = useWatch([builds, own], [pods, own]);
  return (
    <div class="stack">
      <Loaded watched={made} empty={<p>{name} has not been built yet.</p>}>
        {(items) => {
          const [newest] = newestFirst(items);
          return newest && <Steps key={newest.metadata.uid} build={newest} pods={running} />;
        }}
      </Loaded>
      <p>
        <a href={`/builds/${namespace}/${name}`}>All builds of {name}</a>
      </p>
    </div>
  );
}
