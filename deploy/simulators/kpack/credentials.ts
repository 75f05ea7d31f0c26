/** Collects a build pod's credentials as kpack v0.17.2 does. Not simulated: the content of Secrets, cosign, and services. */
import { type Kind, type KubeObject, Secret, type Stored } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import { type Build, ServiceAccount } from "./kinds.ts";

/** The pod of a Build cannot be created, and there is no retry. The Build's status shows the message. */
export class PodGenerationError extends Error {
  override readonly name = "PodGenerationError";
}

/** Secrets for git and the registry, as container arguments. */
export interface Credentials {
  readonly arguments: readonly string[];
  readonly pullSecrets: readonly string[];
}

/** Annotations of Secrets, and the container argument for each. */
const uses = { "kpack.io/git": "-basic-git", "kpack.io/docker": "-basic-docker" } as const;

/** Reads the Build's ServiceAccount and its Secrets. Throws {@link PodGenerationError}. */
export async function credentialsOf(
  build: Build,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Credentials> {
  const { namespace = "" } = build.metadata;

  async function get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<Stored<T>> {
    try {
      return await client.get(kind, { namespace, name }, signal);
    } catch (error) {
      if (isNotFound(error)) throw new PodGenerationError(`${kind.plural} "${name}" not found`);
      throw error;
    }
  }

  const account = await get(ServiceAccount, build.spec.serviceAccountName);
  const secrets: Stored[] = [];
  for (const { name } of account.secrets ?? []) {
    if (!name) throw new PodGenerationError("ServiceAccount has invalid Secret reference");
    secrets.push(await get(Secret, name));
  }
  const pullSecrets = (account.imagePullSecrets ?? []).map(({ name }) => name ?? "");
  if (pullSecrets.includes(""))
    throw new PodGenerationError("ServiceAccount has invalid ImagePullSecret reference");
  const own = new Set(secrets.map(({ metadata }) => metadata.name));
  return {
    arguments: secrets.flatMap(({ metadata: { name, annotations = {} } }) =>
      Object.entries(uses).flatMap(([annotation, flag]) =>
        annotations[annotation] ? [`${flag}=${name}=${annotations[annotation]}`] : [],
      ),
    ),
    pullSecrets: pullSecrets.filter((name) => !own.has(name)),
  };
}
