/** The builds of a RemoteSync, with the steps of the selected one. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Build } from "@denrei/functions/paas/kinds/kpack";
import type { Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age, Duration } from "../ui/age.tsx";
import { ImageName } from "../ui/imagename.tsx";
import { OutLink } from "../ui/link.tsx";
import { Loaded } from "../ui/states.tsx";
import { conditionsOf, Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { endOf, newestFirst, numberOf, reasonOf, resultOf } from "./build.ts";
import { Commit } from "./repository.tsx";
import { Steps } from "./steps.tsx";
import { buildsText as text } from "./text.ts";

interface Shown {
  readonly sync: Stored<RemoteSync>;
  readonly builds: Watched<Build>;
  readonly pods: Watched<PodObject>;
  readonly url: string | undefined;
  /** Number of the selected build. Defaults to the newest. */
  readonly selected: string | undefined;
}

export function Builds({ sync, builds, pods, url, selected }: Shown) {
  return (
    <section class="card" aria-labelledby="builds">
      <header>
        <h2 id="builds">{text.title}</h2>
      </header>
      {builds.state === "refused" && builds.error?.status === 404 ? (
        <p>
          {text.noKpack}{" "}
          <OutLink to="https://github.com/buildpacks-community/kpack">{text.installKpack}</OutLink>
        </p>
      ) : (
        <Loaded watched={builds} empty={<NoBuilds sync={sync} />}>
          {(items) => {
            const sorted = newestFirst(items);
            const shown = sorted.find((build) => String(numberOf(build)) === selected) ?? sorted[0];
            return (
              <>
                <Table
                  rows={sorted}
                  keyOf={({ metadata }) => metadata.uid ?? ""}
                  columns={columnsWith(
                    `/builds/${sync.metadata.namespace}/${sync.metadata.name}`,
                    url,
                    shown,
                  )}
                  current={shown}
                />
                {shown && <Steps key={shown.metadata.uid} build={shown} pods={pods} />}
              </>
            );
          }}
        </Loaded>
      )}
    </section>
  );
}

function NoBuilds({ sync }: { sync: RemoteSync }) {
  const why = conditionsOf(sync).find(({ type, status }) => type === "Ready" && status !== "True");
  return (
    <>
      <h3>{text.none}</h3>
      <p>{why?.message ? text.notReady(why.message) : text.whyNone}</p>
    </>
  );
}

/** `at` is the address of the screen, `url` the one of the repository. */
const columnsWith = (
  at: string,
  url: string | undefined,
  shown: Stored<Build> | undefined,
): readonly Column<Stored<Build>>[] => [
  [
    text.columns.build,
    (build) => (
      <a href={`${at}?build=${numberOf(build)}`} aria-current={build === shown || undefined}>
        #{numberOf(build)}
        <span class="unseen">{text.stepByStep}</span>
      </a>
    ),
  ],
  [
    text.columns.result,
    (build) => {
      const [tone, word] = resultOf(build);
      return <Status tone={tone}>{word}</Status>;
    },
  ],
  [text.columns.reason, (build) => <span class="whole">{reasonOf(build)}</span>],
  [text.columns.revision, ({ spec }) => <Commit sha={spec.source?.git?.revision} url={url} />],
  [text.columns.duration, (build) => <Duration from={build.metadata.creationTimestamp} to={endOf(build)} />],
  [text.columns.image, ({ status }) => <ImageName of={status?.latestImage} />],
  [text.columns.started, ({ metadata }) => <Age of={metadata.creationTimestamp} />],
];
