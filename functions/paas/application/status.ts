/** The status of an Application. Pure. */
import {
  type ConditionUpdate,
  type Deployment,
  hasImage,
  type Rollout,
  rolloutOfAll,
  type Stored,
  selectorText,
} from "denrei";
import type { Application } from "../kinds/application.ts";
import { annotations } from "../names.ts";
import { type Unready, unreadyChild } from "./health.ts";
import { historyWith } from "./history.ts";
import { refusedRoute } from "./routes.ts";

type App = Stored<Application>;
type Status = NonNullable<Application["status"]>;

/** Why a reconcile could not finish: a reason in CamelCase, and a message for the owner. */
export interface Problem {
  readonly step: "Rendered" | "Applied";
  readonly reason: string;
  readonly message: string;
}

/** Result of a reconcile. */
export interface ReconcileResult {
  /** Undefined when everything was applied. */
  readonly problem?: Problem | undefined;
  /** Hosts that the Application owns; undefined before they are claimed. */
  readonly granted?: readonly string[] | undefined;
  /** Why other hosts are not granted. */
  readonly withheld?: { readonly reason: string; readonly message: string } | undefined;
  /** Existing Deployments, the main one first. With a problem they may be from an earlier reconcile. */
  readonly deployments: readonly Deployment[];
  /** All applied objects; empty with a problem. */
  readonly children: readonly Stored[];
  /** Scheme of the URLs, if known. */
  readonly scheme?: "http" | "https" | undefined;
  readonly now: Date;
}

/** The status to write. */
export interface StatusUpdate {
  readonly status: Partial<Status>;
  readonly conditions: readonly ConditionUpdate[];
}

const desiredImage = ({ spec }: Application): string => spec.pinnedImage ?? spec.image ?? "";

const ownDomains = ({ spec }: Application, granted: ReconcileResult["granted"]): string[] =>
  granted ? spec.domains.filter((domain) => granted.includes(domain)) : spec.domains;

/** The previous domains, without those that the Application no longer owns. */
const keptDomains = ({ status }: Application, granted: ReconcileResult["granted"]): Partial<Status> =>
  status?.domains && granted ? { domains: status.domains.filter((domain) => granted.includes(domain)) } : {};

/** URLs of the domains. A wildcard is not an address. */
const urlsOf = (domains: readonly string[], scheme: string): string[] =>
  domains.filter((domain) => !domain.startsWith("*")).map((domain) => `${scheme}://${domain}`);

/** Builds status and conditions. */
export function statusOf(app: App, found: ReconcileResult): StatusUpdate {
  const { problem, withheld, deployments, children, scheme = "https", now } = found;
  const rollout = rolloutOfAll(deployments);
  const route = refusedRoute(children);
  const summary = summaryOf(problem, withheld, rollout, route, unreadyChild(children));
  const domains = ownDomains(app, found.granted);
  const urls = urlsOf(domains, scheme);
  return {
    status: {
      status: summary.word,
      message: summary.word === "deployed" || summary.word === "progressing" ? "" : summary.message,
      // Hosts are not routed before their routes are applied.
      ...(problem === undefined ? { domains, url: urls[0] ?? "", urls } : keptDomains(app, found.granted)),
      ...(isShown(found) && podsOf(deployments)),
      ...imagesOf(app, { problem, deployments, rollout, now }),
    },
    conditions: [
      ...stepsOf(problem),
      ...(isShown(found) ? [rolledOut(rollout)] : []),
      {
        type: "Ready",
        status: summary.word === "deployed" ? "True" : "False",
        reason: summary.reason,
        message: summary.message,
      },
    ],
  };
}

/** Whether to report pods. After a problem there may be none yet. */
const isShown = ({ problem, deployments }: ReconcileResult): boolean =>
  problem === undefined || deployments.length > 0;

interface Summary {
  readonly word: NonNullable<Status["status"]>;
  readonly reason: string;
  readonly message: string;
}

function summaryOf(
  problem: Problem | undefined,
  withheld: ReconcileResult["withheld"],
  rollout: Rollout,
  route: string | undefined,
  unready: Unready | undefined,
): Summary {
  if (problem) return { ...problem, word: problem.step === "Rendered" ? "failed" : "error" };
  if (withheld) return { ...withheld, word: "error" };
  if (rollout.state !== "done") return { ...rollout, word: rollout.state };
  if (route !== undefined) return { word: "error", reason: "RouteNotAccepted", message: route };
  if (unready?.state === "failed") return { word: "error", reason: "ChildFailed", message: unready.message };
  if (unready) return { word: "progressing", reason: "ChildNotReady", message: unready.message };
  return { word: "deployed", reason: "Deployed", message: rollout.message };
}

const done = (type: Problem["step"]): ConditionUpdate => ({
  type,
  status: "True",
  reason: type,
  message: "",
});

/** Conditions of the steps. Without an entry, a step that was not reached keeps its previous condition. */
function stepsOf(problem: Problem | undefined): ConditionUpdate[] {
  if (problem === undefined) return [done("Rendered"), done("Applied")];
  const { step, reason, message } = problem;
  const failed = { type: step, status: "False", reason, message } as const;
  return step === "Rendered" ? [failed] : [done("Rendered"), failed];
}

const rolledOut = ({ state, reason, message }: Rollout): ConditionUpdate => ({
  type: "RolledOut",
  status: state === "done" ? "True" : "False",
  reason,
  message,
});

function podsOf([main]: readonly Deployment[]): Partial<Status> {
  return {
    replicas: main?.status?.replicas ?? 0,
    readyReplicas: main?.status?.readyReplicas ?? 0,
    selector: main ? selectorText(main) : "",
  };
}

/** The current image, once all pods run it, and the history. */
function imagesOf(
  app: App,
  {
    problem,
    deployments,
    rollout,
    now,
  }: Pick<ReconcileResult, "problem" | "deployments" | "now"> & { readonly rollout: Rollout },
): Partial<Status> {
  const image = desiredImage(app);
  const runsDesired = problem === undefined || deployments.some((deployment) => hasImage(deployment, image));
  if (rollout.state !== "done" || !runsDesired) return {};
  const { history = [] } = app.status ?? {};
  if (image === "") return { currentImage: "" };
  const revision =
    app.spec.pinnedImage === undefined
      ? app.metadata.annotations?.[annotations.revision]
      : history.find((entry) => entry.image === image)?.revision;
  return { currentImage: image, history: historyWith(history, { image, revision, time: now }) };
}

/** A Kubernetes Event to record. */
export interface EventToRecord {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

/** Reasons to record as Events. For errors that stop a reconcile, the platform records Events itself. */
const recordedReasons: readonly string[] = ["ProgressDeadlineExceeded", "RouteNotAccepted", "ChildFailed"];

/** Events for changes of the status. */
export function eventsFor({ status: before }: App, { status, conditions }: StatusUpdate): EventToRecord[] {
  const events: EventToRecord[] = [];
  const image = status.currentImage;
  if (image && image !== before?.currentImage)
    events.push({ type: "Normal", reason: "Deployed", note: `all pods run ${image}` });
  const reasonBefore = before?.conditions?.find(({ type }) => type === "Ready")?.reason;
  for (const { type, reason, message } of conditions)
    if (type === "Ready" && reason !== reasonBefore && recordedReasons.includes(reason))
      events.push({ type: "Warning", reason, note: message });
  return events;
}
