/**
 * `denrei migrate-storage`: rewrites objects in the stored version of their kind, so that older versions can be removed.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#upgrade-existing-objects-to-a-new-stored-version
 */
import { externalKind, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import {
  type ApiError,
  connectCluster,
  isConflict,
  isNotFound,
  type KubeClient,
  metadataOnly,
} from "denrei/kubernetes";
import { definedKinds, ExpectedError, type Settings, say, UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";
import { allFunctions } from "./named.ts";

type Crd = KubeObject<
  { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] },
  { readonly storedVersions?: readonly string[] }
>;

const CustomResourceDefinition = externalKind<Crd>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** Options of the command line. */
export interface MigrateOptions {
  readonly dryRun?: boolean;
}

const writer = { fieldManager: "denrei-cli" };
/** Objects of a page, and how many of them are written at a time. */
const [pageSize, parallel] = [500, 10];
/** Failed objects that are printed. */
const shownFailures = 10;

/**
 * Migrates the kinds with these names, by default all that store more than one version. Throws a {@link UsageError} for an unknown
 * name, and an {@link ExpectedError} for the first kind that could not be migrated.
 */
export async function migrateStorage(
  names: readonly string[],
  { kubeconfig, context }: Settings<"kubeconfig" | "context">,
  { dryRun = false }: MigrateOptions,
): Promise<void> {
  const kinds = kindsNamed(definedKinds(await allFunctions()), names);
  const client = await connectCluster({ path: kubeconfig, context });
  try {
    for (const kind of kinds) await migrateKind(client, kind, dryRun);
  } finally {
    await client.connection.close();
  }
}

const crdName = ({ plural, group }: Kind): string => `${plural}.${group}`;

function kindsNamed(kinds: readonly Kind[], names: readonly string[]): readonly Kind[] {
  if (names.length === 0) return kinds;
  return names.map((name) => {
    const found = kinds.filter((kind) =>
      [kind.kind, kind.plural, crdName(kind)].some((one) => one.toLowerCase() === name.toLowerCase()),
    );
    const [kind, other] = found;
    const known = (found.length > 1 ? found : kinds).map(crdName);
    if (kind === undefined)
      throw new UsageError(
        `unknown kind "${name}"${didYouMean(name, known)}: expected one of ${known.join(", ")}`,
      );
    if (other !== undefined)
      throw new UsageError(`"${name}" is ambiguous: expected one of ${known.join(", ")}`);
    return kind;
  });
}

/** Migrates a kind. Throws an {@link ExpectedError} that says what to do. */
export async function migrateKind(client: KubeClient, kind: Kind, dryRun: boolean): Promise<void> {
  const name = crdName(kind);
  const crd = await crdOf(client, kind);
  const { storedVersions = [] } = crd.status ?? {};
  if (storedVersions.length === 1 && storedVersions[0] === kind.version) {
    say(`${name}: all objects are stored as ${kind.version}`);
    return;
  }
  say(
    `${name}: stored as ${storedVersions.join(", ")}, rewriting as ${kind.version}${dryRun ? " (dry run)" : ""}`,
  );
  const { count, failures } = await rewriteAll(client, kind, dryRun);
  if (failures.length > 0) throw new ExpectedError(failureText(name, failures));
  if (dryRun) {
    say(`${name}: would rewrite ${count} objects, and set status.storedVersions to ${kind.version}`);
    return;
  }
  await setStoredVersion(client, crd, kind);
  say(`${name}: rewrote ${count} objects, status.storedVersions is ${kind.version}`);
}

/** Throws an {@link ExpectedError} if the CRD does not store the version of this program. */
async function crdOf(client: KubeClient, kind: Kind): Promise<Stored<Crd>> {
  const name = crdName(kind);
  const crd = await client.get(CustomResourceDefinition, { name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new ExpectedError(`the CRD ${name} is not installed: nothing to migrate`, { cause: error });
  });
  const stored = crd.spec.versions.find(({ storage }) => storage)?.name;
  if (stored === kind.version) return crd;
  throw new ExpectedError(
    `the CRD ${name} stores ${stored}, and this program stores ${kind.version}: install the CRD of this program first (denrei crds), ` +
      "or use the program that has installed it",
  );
}

interface Rewritten {
  readonly count: number;
  readonly failures: readonly string[];
}

async function rewriteAll(client: KubeClient, kind: Kind, dryRun: boolean): Promise<Rewritten> {
  const failures: string[] = [];
  let count = 0;
  let next: string | undefined;
  do {
    const query = { limit: pageSize, continue: next };
    const { items, metadata } = await client.list(kind, undefined, query, undefined, metadataOnly.list);
    for (let at = 0; at < items.length; at += parallel)
      failures.push(...(await Promise.all(items.slice(at, at + parallel).map(one))).filter(isFailure));
    count += items.length;
    next = metadata.continue || undefined;
    if (next) say(`${crdName(kind)}: ${count} of ${count + (metadata.remainingItemCount ?? 0)} objects`);
  } while (next);
  return { count, failures };

  function one(object: Stored): Promise<string | undefined> {
    return rewrite(client, kind, object, dryRun);
  }
}

const isFailure = (text: string | undefined): text is string => text !== undefined;

/** An empty patch makes the API server write the object, if it is not stored in this version yet. Returns why it failed. */
async function rewrite(
  client: KubeClient,
  kind: Kind,
  { metadata: { namespace, name } }: Stored,
  dryRun: boolean,
): Promise<string | undefined> {
  try {
    await client.mergePatch(kind, { namespace, name }, {}, { ...writer, ...(dryRun && { dryRun: "All" }) });
  } catch (error) {
    // Another writer deleted the object, or has stored it in this version.
    if (isNotFound(error) || isConflict(error)) return undefined;
    return [namespace, name]
      .filter(Boolean)
      .join("/")
      .concat(`: ${(error as ApiError).message}`);
  }
  return undefined;
}

const failureText = (name: string, failures: readonly string[]): string =>
  [
    `${name}: ${failures.length} objects could not be rewritten. Correct or delete them, and run the command again:`,
    ...failures.slice(0, shownFailures),
    ...(failures.length > shownFailures ? [`and ${failures.length - shownFailures} more`] : []),
  ].join("\n  ");

/** Writes only if the CRD is the one that was read first: after a change in between, objects may be stored in another version. */
async function setStoredVersion(client: KubeClient, crd: Stored<Crd>, kind: Kind): Promise<void> {
  const { name, resourceVersion } = crd.metadata;
  const patch = { metadata: { resourceVersion }, status: { storedVersions: [kind.version] } };
  try {
    await client.mergePatch(CustomResourceDefinition, { name }, patch, { ...writer, subresource: "status" });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new ExpectedError(`the CRD ${name} has changed during the migration: run the command again`, {
      cause: error,
    });
  }
}
