/** The sample of PipeCD v0.57.0, whose objects are created and deleted together. */
import { readFile } from "node:fs/promises";
import { Application, ControlPlane, Environment, Minio, Mysql, Piped } from "@denrei/functions/pipecd/kinds";
import { type Kind, type KubeObject, Secret } from "denrei/kinds";
import { parseAllDocuments } from "yaml";
import type { Conditioned } from "./settled.ts";
import { create, type Steps } from "./steps.ts";

/** Path in the repository. */
export const samplePath = "functions/pipecd/samples/c.yaml";
const file = new URL(import.meta.resolve(`@denrei/${samplePath}`));

/** Kinds of the sample with conditions, in its order. */
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

/** Reads its objects, in order. */
export async function readSample(): Promise<readonly SampleObject[]> {
  const kinds: readonly Kind[] = [Secret as Kind, ...sampleKinds];
  return parseAllDocuments(await readFile(file, "utf8")).map((document) => {
    const { kind: name, metadata, apiVersion: _, ...content } = document.toJS() as KubeObject;
    const kind = kinds.find((one) => one.kind === name);
    if (kind === undefined) throw new TypeError(`${samplePath} has an object of the unknown kind ${name}`);
    return { kind, name: metadata.name, content };
  });
}

/** Creates the objects in order. */
export async function applySample(steps: Steps, objects: readonly SampleObject[]): Promise<void> {
  for (const { kind, name, content } of objects) await create(steps, kind, name, content);
}

/** Whether the object has a kind of the platform. Only the user deletes the other objects. */
export const isOurs = ({ kind }: SampleObject): boolean => kind.kind !== Secret.kind;

/** Deletes objects in order, without waiting for their finalizers. */
export async function deleteSample(
  { environment, namespace, signal }: Steps,
  objects: readonly SampleObject[],
): Promise<void> {
  for (const { kind, name } of objects)
    await environment.client.delete(kind, { namespace, name }, { signal });
}
