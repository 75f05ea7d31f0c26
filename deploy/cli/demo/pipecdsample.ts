/** The sample of PipeCD v0.57.0: its objects, made and deleted all at once. */
import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { type Kind, Secret } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import {
  Application,
  ControlPlane,
  Environment,
  Minio,
  Mysql,
  Piped,
} from "../../../functions/pipecd/kinds.ts";
import type { Conditioned } from "./settled.ts";
import { create, type Steps } from "./story.ts";

/** Where it is in the repository. */
export const samplePath = "functions/pipecd/samples/c.yaml";
const file = new URL(`../../../${samplePath}`, import.meta.url);

/** Kinds of the sample's objects that say how they are, as it has them. */
export const sampleKinds = [
  Minio,
  Mysql,
  ControlPlane,
  Environment,
  Piped,
  Application,
] as unknown as readonly Kind<Conditioned>[];

/** An object of the sample. */
export interface SampleObject {
  readonly kind: Kind;
  readonly name: string;
  readonly content: object;
}

/** Its objects, in their order. */
export async function readSample(): Promise<readonly SampleObject[]> {
  const kinds: readonly Kind[] = [Secret as Kind, ...sampleKinds];
  return parseAllDocuments(await readFile(file, "utf8")).map((document) => {
    const { kind: name, metadata, apiVersion: _, ...content } = document.toJS() as KubeObject;
    const kind = kinds.find((one) => one.kind === name);
    if (kind === undefined) throw new TypeError(`expected ${samplePath} to have no ${name}`);
    return { kind, name: metadata.name, content };
  });
}

/** Makes them, in their order. */
export async function applySample(play: Steps, objects: readonly SampleObject[]): Promise<void> {
  for (const { kind, name, content } of objects) await create(play, kind, name, content);
}

/** Whether it is of the platform's kinds. The others nobody but the user deletes. */
export const isOurs = ({ kind }: SampleObject): boolean => kind.kind !== Secret.kind;

/** Asks the API server to delete objects, in their order, and waits for none of them. */
export async function deleteSample(
  { environment: stage, namespace, signal }: Steps,
  objects: readonly SampleObject[],
): Promise<void> {
  for (const { kind, name } of objects) await stage.client.delete(kind, { namespace, name }, { signal });
}
