/** CPU and memory of pods. */
import { amountOf } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import type { PodUsages } from "../../../api/usage.ts";
import { useQuery } from "../api/query.ts";

/** metrics-server measures every 15 seconds. */
const pollMillis = 15_000;

/** The usage of a pod. */
export interface PodUsage {
  /** Cores. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** The usage of pods by name, or why it is not known: `none` if the cluster has no metrics API. */
export type Usage = ReadonlyMap<string, PodUsage> | "loading" | "none" | "forbidden" | "unavailable";

/** Polls the usage of the selected pods. */
export function useUsage(namespace: string, labelSelector: string): Usage {
  const query = new URLSearchParams({ namespace, labelSelector });
  const { state, value, error } = useQuery<PodUsages>(`/api/usage?${query}`, pollMillis);
  const usage = useMemo(() => value && usageOf(value), [value]);
  if (usage !== undefined) return usage;
  if (state === "refused") return error?.status === 404 ? "none" : "forbidden";
  return state === "away" ? "unavailable" : "loading";
}

const usageOf = ({ pods }: PodUsages): ReadonlyMap<string, PodUsage> =>
  new Map(
    pods.map(({ name, containers }) => {
      const sum = (of: "cpu" | "memory") =>
        containers.reduce((total, container) => total + (amountOf(container[of]) ?? 0), 0);
      return [name, { cpu: sum("cpu"), memory: sum("memory") }];
    }),
  );
