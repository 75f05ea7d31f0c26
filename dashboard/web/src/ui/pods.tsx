/** A table of pods with their states. */
import { amountOf, type Stored } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { ImageName } from "./imagename.tsx";
import { usageText as text, podText as words } from "./object/text.ts";
import { podState } from "./podstate.ts";
import { cpuText, memoryText } from "./quantity.ts";
import { statusValue, timeValue } from "./sort.ts";
import { Loaded } from "./states.tsx";
import { Status } from "./status.tsx";
import { type Column, Table } from "./table.tsx";
import type { PodUsage, Usage } from "./usage.ts";

/** A table of pods. */
export function Pods({ watched, usage }: { watched: Watched<PodObject>; usage: Usage }) {
  const columns = useMemo(() => columnsWith(usage), [usage]);
  return (
    <section class="card" aria-labelledby="pods">
      <header>
        <h2 id="pods">{words.title}</h2>
      </header>
      <Loaded watched={watched} empty={<p>{words.none}</p>}>
        {(pods) => (
          <>
            <Table rows={pods} keyOf={uidOf} columns={columns} />
            {typeof usage === "string" && usage !== "loading" && <p class="quiet small">{text[usage]}</p>}
          </>
        )}
      </Loaded>
    </section>
  );
}

const restartsOf = ({ status }: PodObject): number =>
  (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);

const uidOf = ({ metadata }: PodObject): string => metadata.uid ?? "";

/** The sum of the containers' limits; undefined if one has none. */
function limitOf({ spec }: PodObject, of: keyof PodUsage): number | undefined {
  const limits = (spec.containers ?? []).map(({ resources }) => amountOf(resources?.limits?.[of]));
  return limits.reduce<number | undefined>(
    (sum, limit) => (sum === undefined || limit === undefined ? undefined : sum + limit),
    0,
  );
}

/** A column of usage and limit. */
const usageColumn = (
  name: string,
  of: keyof PodUsage,
  write: (value: number) => string,
  usage: ReadonlyMap<string, PodUsage>,
): Column<Stored<PodObject>> => {
  const usedBy = ({ metadata }: PodObject) => usage.get(metadata.name)?.[of];
  return [
    name,
    (pod) => {
      const used = usedBy(pod);
      const limit = limitOf(pod, of);
      if (used === undefined) return "";
      return (
        <>
          {write(used)}
          {limit !== undefined && <span class="quiet small"> {text.of(write(limit))}</span>}
        </>
      );
    },
    "number",
    usedBy,
  ];
};

const columnsWith = (usage: Usage): readonly Column<Stored<PodObject>>[] => [
  [words.name, ({ metadata }) => metadata.name, "text", ({ metadata }) => metadata.name],
  [
    words.state,
    (pod) => {
      const [tone, word] = podState(pod);
      return <Status tone={tone}>{word}</Status>;
    },
    "text",
    (pod) => statusValue(podState(pod)),
  ],
  [words.image, ({ spec }) => <ImageName of={spec.containers?.[0]?.image} />],
  [words.restarts, restartsOf, "number", restartsOf],
  ...(typeof usage === "string"
    ? []
    : [usageColumn(text.cpu, "cpu", cpuText, usage), usageColumn(text.memory, "memory", memoryText, usage)]),
  [
    words.age,
    ({ metadata }) => <Age of={metadata.creationTimestamp} />,
    "text",
    ({ metadata }) => timeValue(metadata.creationTimestamp),
  ],
];
