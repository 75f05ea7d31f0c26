/** How what runs differs from what an Application asks for. Pure. */
import type { Application } from "@denrei/functions/paas/kinds";
import { type Condition, type Deployment, matchesDesired, rolloutOf, type Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import { type Difference, type Drift, difference, type State } from "../ui/differences/difference.ts";
import { text as shared } from "../ui/differences/text.ts";
import { conditionsOf } from "../ui/health.ts";
import type { Child } from "./children.ts";
import { driftText as text } from "./text.ts";
import { listText, sourcesText, valueText } from "./variabletexts.ts";

type App = Stored<Application>;

/** The fields of a container that the page compares. */
interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Application["spec"]["env"];
  readonly envFrom?: Application["spec"]["envFrom"];
  readonly ports?: readonly { readonly containerPort?: number }[];
  readonly resources?: Application["spec"]["resources"];
}

/** The image that an Application asks for; empty for the placeholder page. */
const wantedImage = ({ spec }: Application): string => spec.pinnedImage ?? spec.image ?? "";

/** Whether the platform has applied the current settings. Whatever else runs then is the chart's. */
const isApplied = (app: App): boolean => !isBehind(app) && problemOf(app) === undefined;

const isBehind = ({ metadata, status }: App): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);

const problemOf = (app: App): Condition | undefined =>
  conditionsOf(app).find(({ type, status }) => ["Rendered", "Applied"].includes(type) && status === "False");

/** Compares an Application with its main Deployment, the first in its inventory. */
export function driftOf(app: App, children: readonly Child[], pods: readonly PodObject[]): Drift {
  const main = children.find(({ entry }) => entry.kind === "Deployment");
  const deployment = main?.object as Stored<Deployment> | undefined;
  const differences = deployment ? differencesOf(app, deployment, pods) : [];
  const [tone, sentence] =
    ownState(app) ?? (deployment ? runningState(deployment, differences) : unknownState(app, main));
  return { tone, sentence, differences };
}

/** The state that the Application itself reports, if its settings are not applied. */
function ownState(app: App): State | undefined {
  if (app.metadata.deletionTimestamp !== undefined) return ["busy", shared.deleting("Application")];
  if (isBehind(app)) return ["busy", shared.notReconciled];
  const problem = problemOf(app);
  return problem && ["bad", shared.notApplied(problem.message)];
}

function unknownState(app: App, main: Child | undefined): State {
  if (main === undefined) return ["off", app.status?.resources?.length ? text.noDeployment : text.nothingYet];
  const { watched, entry } = main;
  if (watched === undefined) return ["off", text.otherName(entry.name)];
  if (watched.state === "refused") return ["off", text.forbidden];
  return watched.state === "live"
    ? ["bad", shared.missing(text.deployment(entry.name))]
    : ["off", text.notLoaded];
}

function runningState(deployment: Stored<Deployment>, differences: readonly Difference[]): State {
  const rollout = rolloutOf(deployment);
  if (rollout.state === "failed") return ["bad", text.rolloutFailed(rollout.message)];
  if (rollout.state === "progressing") return ["busy", rollingOut(deployment, rollout.message)];
  return differences.length > 0 ? ["busy", shared.differs] : ["good", shared.same];
}

function rollingOut({ metadata, spec, status }: Stored<Deployment>, message: string): string {
  const { replicas: desired = 1 } = spec;
  const { observedGeneration = 0, updatedReplicas = 0 } = status ?? {};
  const isCounted = observedGeneration >= (metadata.generation ?? 0) && updatedReplicas < desired;
  return isCounted ? text.rollingOut(updatedReplicas, desired) : text.waiting(message);
}

function differencesOf(
  app: App,
  deployment: Stored<Deployment>,
  pods: readonly PodObject[],
): readonly Difference[] {
  const { spec } = app;
  const containers: readonly Container[] = deployment.spec.template?.spec?.containers ?? [];
  const container = mainOf(containers) ?? {};
  const image = wantedImage(app);
  const extras = isApplied(app) ? "the chart's" : "leftovers";
  const { replicas = 1 } = deployment.spec;
  return [
    ...difference(text.pods, replicas === spec.replicas, `${spec.replicas}`, `${replicas}`),
    // The placeholder image gets neither the command nor the variables.
    ...(image === ""
      ? []
      : [
          ...images(image, [container, ...pods.filter(isStaying).map((pod) => mainOf(pod.spec.containers))]),
          ...list(text.command, spec.command, container.command, extras),
          ...list(text.args, spec.args, container.args, extras),
          ...variables(spec.env ?? [], container.env ?? [], extras),
          ...sources(spec.envFrom, container.envFrom, extras),
        ]),
    ...port(spec.port ?? defaultPort, container.ports ?? []),
    ...amounts(spec.resources, container.resources),
  ];
}

/** The origin of values that the Application does not ask for: the chart sets them, or they are not removed yet. */
type Extras = "the chart's" | "leftovers";

const defaultPort = 8080;

/** The built-in chart names it so. */
const mainOf = (containers: readonly Container[] = []): Container | undefined =>
  containers.find(({ name }) => name === "main") ?? containers[0];

const isStaying = ({ metadata }: PodObject): boolean => metadata.deletionTimestamp === undefined;

function images(wanted: string, containers: readonly (Container | undefined)[]): readonly Difference[] {
  const found = [...new Set(containers.flatMap((container) => container?.image ?? []))];
  const isSame = found.every((image) => image === wanted);
  return difference(text.image, isSame, wanted, found.join(text.and));
}

function list(
  setting: string,
  wanted: readonly string[] | undefined,
  running: readonly string[] | undefined,
  extras: Extras,
): readonly Difference[] {
  const isSame = !wanted?.length ? isExpected(running, extras) : matchesDesired(running, wanted);
  return difference(setting, isSame, listText(wanted), listText(running));
}

const isExpected = (running: readonly unknown[] | undefined, extras: Extras): boolean =>
  extras === "the chart's" || !running?.length;

type Variables = NonNullable<Application["spec"]["env"]>;

function variables(wanted: Variables, running: Variables, extras: Extras): readonly Difference[] {
  const leftovers = extras === "leftovers" ? running.filter(({ name }) => name !== "PORT") : [];
  const names = new Set([...wanted, ...leftovers].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [asked, found] = [wanted, running].map((all) => all.find((variable) => variable.name === name));
    const isSame =
      asked !== undefined && matchesDesired(found, asked) && !found?.valueFrom === !asked.valueFrom;
    return difference(text.variable(name), isSame, valueText(asked), valueText(found));
  });
}

function sources(
  wanted: Application["spec"]["envFrom"],
  running: Application["spec"]["envFrom"],
  extras: Extras,
): readonly Difference[] {
  const isSame = !wanted?.length ? isExpected(running, extras) : matchesDesired(running, wanted);
  return difference(text.sources, isSame, sourcesText(wanted), sourcesText(running));
}

/** A chart of the site may declare no port. */
function port(wanted: number, running: NonNullable<Container["ports"]>): readonly Difference[] {
  const found = running.flatMap(({ containerPort = [] }) => containerPort);
  const isSame = found.length === 0 || found.includes(wanted);
  return difference(text.port, isSame, `${wanted}`, found.join(text.and));
}

/** Without own amounts, the site's apply. */
const amounts = (
  wanted: Application["spec"]["resources"],
  running: Container["resources"],
): readonly Difference[] =>
  (["requests", "limits"] as const).flatMap((field) =>
    Object.entries(wanted?.[field] ?? {}).flatMap(([name, amount]) => {
      const found = running?.[field]?.[name];
      const isSame = matchesDesired(found, amount, name, field);
      return difference(text[field](name), isSame, `${amount}`, `${found ?? shared.notSet}`);
    }),
  );
