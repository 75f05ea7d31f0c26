/** Records events of a namespace as lines, in the notation of the recording of real kpack. */
import { type KubeClient, resourcePath } from "../../bus/kube/client.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { compareVersions, type KubeObject } from "../../bus/kube/object.ts";
import type { WatchEvent } from "../../bus/kube/watchstream.ts";
import {
  Build,
  type BuildStatus,
  type Condition,
  Image,
  type ImageStatus,
} from "../../deploy/simulators/kpack/kinds.ts";
import { labels } from "../../deploy/simulators/kpack/newbuild.ts";

/** A running recording. */
export interface Recording {
  /** Events of all kinds, in the order in which the API server stored the objects. */
  lines(): string[];
  /** Resolves to the lines once each pattern matches one. */
  until(...patterns: readonly (RegExp | string)[]): Promise<string[]>;
  stop(): void;
}

const deadlineMillis = 60_000;

/** Starts to watch the kinds in the namespace. Existing objects are not recorded. */
export async function record(
  client: KubeClient,
  namespace: string,
  kinds: readonly Kind[] = [Image as Kind, Build as Kind],
): Promise<Recording> {
  const stopping = new AbortController();
  const events: WatchEvent[] = [];
  const arrived = new Set<() => void>();

  async function follow(kind: Kind): Promise<void> {
    const { metadata } = await client.list(kind, namespace);
    const path = resourcePath(kind, namespace);
    const query = { resourceVersion: metadata.resourceVersion };
    const watch = await client.watch({ path, query, signal: stopping.signal });
    void (async () => {
      for await (const event of watch) {
        events.push(event);
        for (const notify of arrived) notify();
      }
    })().catch(() => undefined);
  }
  await Promise.all(kinds.map(follow));

  function lines(): string[] {
    const sorted = events.toSorted((a, b) =>
      compareVersions(a.object.metadata.resourceVersion, b.object.metadata.resourceVersion),
    );
    const digests = new Map<string, string>();
    return sorted.map((event) => lineOf(event, digests));
  }

  return {
    lines,
    until: (...patterns) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          arrived.delete(check);
          const missing = patterns.filter((one) => !lines().some((line) => line.match(one)));
          reject(new Error(`no line matches ${missing.join(" and ")}:\n${lines().join("\n")}`));
        }, deadlineMillis);
        function check(): void {
          const now = lines();
          if (!patterns.every((one) => now.some((line) => line.match(one)))) return;
          arrived.delete(check);
          clearTimeout(timer);
          resolve(now);
        }
        arrived.add(check);
        check();
      }),
    stop: () => stopping.abort(),
  };
}

/** Formats an event. Image digests are named D1, D2, … in the order of their appearance. */
function lineOf({ type, object }: WatchEvent, digests: Map<string, string>): string {
  const digest = (image: string | undefined) => {
    if (image === undefined) return undefined;
    const known = digests.get(image) ?? `D${digests.size + 1}`;
    digests.set(image, known);
    return known;
  };
  const { kind, metadata } = object;
  if (kind === Image.kind) {
    const status = (object.status ?? {}) as ImageStatus;
    const fields = {
      gen: metadata.generation,
      obs: status.observedGeneration,
      latestBuildRef: status.latestBuildRef,
      buildCounter: status.buildCounter,
      latestBuildReason: status.latestBuildReason,
      latestBuildImageGeneration: status.latestBuildImageGeneration,
      latestImage: digest(status.latestImage),
      latestStack: status.latestStack,
    };
    return line(`${type} Image`, fields, status.conditions);
  }
  if (kind === Build.kind) {
    const status = (object.status ?? {}) as BuildStatus;
    const fields = {
      obs: status.observedGeneration,
      podName: status.podName,
      stepsCompleted: status.stepsCompleted && `[${status.stepsCompleted.join(" ")}]`,
      latestImage: digest(status.latestImage),
      stack: status.stack?.id,
    };
    return line(`${type} ${nameOf(object)}`, fields, status.conditions);
  }
  return `${type} ${kind} ${metadata.name}`;
}

const nameOf = ({ metadata }: KubeObject): string => `Build-${metadata.labels?.[labels.buildNumber]}`;

function line(start: string, fields: Record<string, unknown>, conditions: Condition[] = []): string {
  const known = Object.entries(fields).flatMap(([name, value]) => (value ? [`${name}=${value}`] : []));
  return [start, ...known, ...conditions.map(conditionText)].join(" ");
}

function conditionText({ type, status, reason, message }: Condition): string {
  if (type !== "Ready" && type !== "Succeeded" && type === reason && status === "True" && !message)
    return type === "BuilderReady" ? "BR" : "BU";
  return `${type}=${status}/${reason ?? "-"}${message ? ` "${message}"` : ""}`;
}
