/** How PipeCD's record of an object differs from the object. Pure. */
import type { Application, Environment, Piped } from "@denrei/functions/pipecd/kinds";
import type { KubeObject } from "denrei/kinds";
import { type Difference, difference } from "../ui/differences/difference.ts";
import { text as shared } from "../ui/differences/text.ts";
import { driftText as text } from "./text.ts";

/** Compares a setting. One that the specification leaves open is not compared. */
const compare = (
  setting: string,
  wanted: string | undefined,
  registered: string | undefined,
): readonly Difference[] =>
  wanted === undefined
    ? []
    : difference(setting, wanted === registered, wanted || text.empty, registered || shared.notSet);

function ofPiped({ spec, status }: Piped): readonly Difference[] | undefined {
  const { registered } = status ?? {};
  return (
    registered && [
      ...compare(text.name, spec.name, registered.name),
      ...compare(text.description, spec.description, registered.description),
      ...compare(text.project, spec.projectID, registered.projectID),
    ]
  );
}

function ofEnvironment({ spec, status }: Environment): readonly Difference[] | undefined {
  const { registered } = status ?? {};
  return (
    registered && [
      ...compare(text.name, spec.name, registered.name),
      ...compare(text.project, spec.projectID, registered.projectID),
    ]
  );
}

type Targets = readonly { readonly plugin: string; readonly names: readonly string[] }[];

const targetsText = (targets: Targets): string =>
  targets
    .map(({ plugin, names }) => `${plugin}: ${names.join(", ")}`)
    .sort()
    .join("; ");

/** `stack`: the objects among which the Piped is found that the Application names. */
function ofApplication(
  { spec, status }: Application,
  stack: readonly KubeObject[],
): readonly Difference[] | undefined {
  const { registered } = status ?? {};
  if (registered === undefined) return undefined;
  const { objectName } = spec.pipedRef;
  const piped = stack.find(({ kind, metadata }) => kind === "Piped" && metadata.name === objectName);
  const { deployTargetsByPlugin: targets } = spec;
  const plugins = targets && Object.entries(targets).map(([plugin, names]) => ({ plugin, names }));
  return [
    ...compare(text.name, spec.name, registered.name),
    ...compare(text.project, spec.projectID, registered.projectID),
    ...compare(text.pipedId, (piped as Piped | undefined)?.status?.pipedID, registered.pipedID),
    ...compare(text.repository, spec.repository, registered.repository),
    ...compare(text.path, spec.path, registered.path),
    ...compare(text.configFile, spec.configFilename || undefined, registered.configFilename),
    ...compare(text.provider, spec.platformProvider || spec.cloudProvider || undefined, registered.provider),
    ...compare(text.targets, plugins && targetsText(plugins), targetsText(registered.deployTargets ?? [])),
  ];
}

const readers: Readonly<
  Record<string, (object: never, stack: readonly KubeObject[]) => readonly Difference[] | undefined>
> = { Piped: ofPiped, Environment: ofEnvironment, Application: ofApplication };

/** Whether PipeCD has a record of objects of a kind. */
export const isRegistered = ({ kind }: KubeObject): boolean => kind in readers;

/** The differences of the last registration; undefined before the first one. */
export const registrationDifferences = (
  object: KubeObject,
  stack: readonly KubeObject[],
): readonly Difference[] | undefined => readers[object.kind]?.(object as never, stack);
