/** What an Application says of itself. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import { annotations } from "../names.ts";
import { type Deployment, type Rollout, rolloutOfAll, selectorText } from "./rollout.ts";

type Status = NonNullable<Application["status"]>;

/** What is to be written. */
export interface Said {
  readonly status: Partial<Status>;
  readonly conditions: readonly ConditionUpdate[];
}

/** The image that is wanted: the pinned one, if there is one. */
export const wantedImage = ({ spec }: Application): string | undefined =>
  spec.pinnedImage ?? (spec.image || undefined);

const historyLimit = 10;

/** Images that have run, with the one that runs now first. */
export function historyWith(
  before: Status["history"] = [],
  image: string | undefined,
  revision: string | undefined,
  now: Date,
): Status["history"] {
  if (image === undefined || before[0]?.image === image) return before;
  const time = now.toISOString().replace(/\.\d+Z$/, "Z");
  const entry = { image, ...(revision !== undefined && { revision }), time };
  return [entry, ...before.filter((old) => old.image !== image)].slice(0, historyLimit);
}

/** Where it is reached; a host of stars is no address. */
const urlsOf = ({ spec }: Application, scheme: string): string[] =>
  spec.domains.filter((domain) => !domain.startsWith("*")).map((domain) => `${scheme}://${domain}`);

const readyOf = ({ state, reason, message }: Rollout): ConditionUpdate =>
  state === "done"
    ? { type: "Ready", status: "True", reason: "Deployed", message }
    : { type: "Ready", status: "False", reason, message };

const words: Readonly<Record<Rollout["state"], Status["status"]>> = {
  done: "deployed",
  progressing: "progressing",
  failed: "failed",
};

/** All objects are applied; the pods may be on their way. */
export function applied(
  app: Stored<Application>,
  {
    deployments,
    scheme,
    now,
  }: { readonly deployments: readonly Deployment[]; readonly scheme: string; readonly now: Date },
): Said {
  const rollout = rolloutOfAll(deployments);
  const [main] = deployments;
  const image = rollout.state === "done" ? wantedImage(app) : app.status?.currentImage;
  const revision =
    app.spec.pinnedImage === undefined
      ? app.metadata.annotations?.[annotations.revision]
      : app.status?.history?.find((entry) => entry.image === image)?.revision;
  const urls = urlsOf(app, scheme);
  return {
    status: {
      domains: app.spec.domains,
      status: words[rollout.state],
      message: rollout.state === "failed" ? rollout.message : "",
      url: urls[0] ?? "",
      urls,
      replicas: main?.status?.replicas ?? 0,
      readyReplicas: main?.status?.readyReplicas ?? 0,
      selector: main ? selectorText(main) : "",
      ...(image !== undefined && { currentImage: image }),
      history: historyWith(app.status?.history, image, revision, now) ?? [],
    },
    conditions: [
      { type: "Rendered", status: "True", reason: "Rendered", message: "" },
      { type: "Applied", status: "True", reason: "Applied", message: "" },
      {
        type: "RolledOut",
        status: rollout.state === "done" ? "True" : "False",
        reason: rollout.reason,
        message: rollout.message,
      },
      readyOf(rollout),
    ],
  };
}

/** A step has failed: what runs goes on, and the object says why it is not as it is wanted. */
export function failedAt(
  step: "Rendered" | "Applied",
  { reason, message }: { readonly reason: string; readonly message: string },
): Said {
  const failed = (type: string): ConditionUpdate => ({ type, status: "False", reason, message });
  return {
    status: { status: step === "Rendered" ? "failed" : "error", message },
    conditions: [
      ...(step === "Applied"
        ? [{ type: "Rendered", status: "True" as const, reason: "Rendered", message: "" }]
        : []),
      failed(step),
      failed("Ready"),
    ],
  };
}
