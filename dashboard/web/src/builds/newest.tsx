/** The newest build of each of several RemoteSyncs. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { labels } from "@denrei/functions/paas/names";
import type { Stored } from "denrei/kinds";
import { builds, pods } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Loaded } from "../ui/states.tsx";
import { newestFirst } from "./build.ts";
import { Steps } from "./steps.tsx";
import { buildsText as text } from "./text.ts";

/** Steps and logs of the newest build of each RemoteSync, and a link to all its builds. One stream serves all of them. */
export function NewestBuilds({
  namespace,
  of: syncs,
}: {
  namespace: string;
  of: readonly Stored<RemoteSync>[];
}) {
  const names = syncs.map(({ metadata }) => metadata.name).sort();
  const selection = { namespace, labelSelector: `${labels.remoteSync} in (${names.join(",")})` };
  const [buildList, podList] = useWatch([builds, selection], [pods, selection]);
  return names.map((name) => {
    const items = buildList.items.filter(({ metadata }) => metadata.labels?.[labels.remoteSync] === name);
    return (
      <div key={name} class="stack">
        <Loaded watched={{ ...buildList, items }} empty={<p>{text.notBuilt(name)}</p>}>
          {(found) => {
            const [newest] = newestFirst(found);
            return newest && <Steps key={newest.metadata.uid} build={newest} pods={podList} />;
          }}
        </Loaded>
        <p>
          <a href={`/builds/${namespace}/${name}`}>{text.all(name)}</a>
        </p>
      </div>
    );
  });
}
